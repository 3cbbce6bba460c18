/** No archive has that name, or it was removed. */
export class ArchiveNotFound extends Error {
  readonly code = 'archive_not_found'
  readonly remedy = '`millrace archive ls` shows those that there are'
  constructor(name: string) {
    super(`there is no archive "${name}"`)
  }
}

/** What was said of an archive cannot be meant. */
export class InvalidArchive extends Error {
  readonly code = 'invalid_archive'
  readonly remedy: string | undefined
  constructor(message: string, remedy?: string) {
    super(message)
    this.remedy = remedy
  }
}

/** Somebody else has changed it since it was read. */
export class ArchiveChanged extends Error {
  readonly code = 'precondition_failed'
  readonly remedy = 'read it again and decide anew'
  constructor(name: string, version: number) {
    super(`archive "${name}" is at version ${version} by now`)
  }
}

/** The repository is another one than that whose revisions the archive holds. */
export class OtherRepository extends Error {
  readonly code = 'other_repository'
  readonly remedy = 'register it under another name: numbers of revisions are never used twice'
  constructor(name: string, known: string, found: string | undefined) {
    super(
      `archive "${name}" holds the history of repository ${known}, and this is ${found ?? 'one without any revision'}`,
    )
  }
}

/** The archive has no repository that could be read: its revisions are only announced. */
export class NoRepository extends Error {
  readonly code = 'no_repository'
  constructor(name: string) {
    super(`archive "${name}" has no repository: what there is of its revisions came with their notices`)
  }
}

/** The state of the archive does not allow it. */
export class ArchiveStateRefused extends Error {
  readonly code = 'archive_state_refused'
  readonly remedy: string | undefined
  constructor(name: string, message: string, remedy?: string) {
    super(`archive "${name}" ${message}`)
    this.remedy = remedy
  }
}

/** The archive has not planned such a revision. */
export class RevisionNotPlanned extends Error {
  readonly code = 'revision_not_planned'
  readonly remedy: string
  constructor(name: string, number: number | string, planned: { first: number; last: number }) {
    super(`revision ${number} of archive "${name}" has not been planned`)
    const { first, last } = planned
    this.remedy =
      last < first ? `the first that will be is ${first}` : `those from ${first} to ${last} were; see \`archive gaps\``
  }
}

/** The same revision was announced before, with something else in it. */
export class NoticeDiffers extends Error {
  readonly code = 'notice_differs'
  readonly remedy = 'what was announced stands; announce the next revision'
  constructor(name: string, rev: string) {
    super(`revision ${rev} of archive "${name}" was announced before with other contents`)
  }
}

/** No workflow of the newest files has such a schedule. */
export class ScheduleNotFound extends Error {
  readonly code = 'schedule_not_found'
  readonly remedy = '`millrace schedule ls` shows those that there are'
  constructor(id: string) {
    super(`there is no schedule ${id}`)
  }
}

/** The conditions of the tasks leave nothing of what was asked for. */
export class NothingToRun extends Error {
  readonly code = 'nothing_to_run'
  readonly remedy = 'look at the conditions (`if`) of its tasks'
  constructor(archive: string, rev: number, what: string) {
    super(`no task of ${what} runs at revision ${rev} of archive "${archive}" when it is started so`)
  }
}

/** The attempt goes on without its lease: its task was given to another one, or is over. */
export class LeaseLost extends Error {
  readonly code = 'lease_lost'
  readonly remedy = 'leave it: the attempt that has the task now commits what it makes itself'
  constructor(name: string) {
    super(`nothing was committed: this attempt of ${name} has lost its lease`)
  }
}
