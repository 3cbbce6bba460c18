import { collect, type Repository, type Revision, type Workspace } from '../vcs/index.ts'
import { type CommitMarker, formatMarker, parseMarker } from './commit-marker.ts'
import { LeaseLost } from './errors.ts'

export type CommitRequest = { readonly message: string; readonly author?: string | undefined }

export type Committed = {
  /** Undefined when nothing in the workspace is different. */
  readonly revision: Revision | undefined
  /** False: another attempt had made it. */
  readonly isNew: boolean
}

export type Committer = {
  /** The revisions that were made or found, in order. */
  readonly revisions: readonly Revision[]
  commit(request: CommitRequest): Promise<Committed>
}

export type CommitterOptions = {
  readonly repository: Repository
  readonly workspace: Workspace
  readonly cause: Omit<CommitMarker, 'commit'>
  /** False: the attempt has lost its lease, and another one may be under way. */
  readonly isOurs: () => Promise<boolean>
}

/**
 * Commits the workspace of a task. Each commit is numbered, and its marker carries the number: one that another attempt has
 * made is found and not made again. Throws `LeaseLost` for an attempt that goes on without its lease.
 */
export function createCommitter({ repository, workspace, cause, isOurs }: CommitterOptions): Committer {
  const revisions: Revision[] = []
  const find = async (commit: number): Promise<Revision | undefined> => {
    const log = await collect(repository.log({ after: workspace.revision, withChanges: false }))
    const found = log.find(({ marks }) => {
      const made = parseMarker(marks['cause'] ?? '')
      return made?.by === cause.by && made.task === cause.task && made.commit === commit
    })
    return found && { number: found.number, id: found.id }
  }
  const make = async ({ message, author }: CommitRequest): Promise<Committed> => {
    const commit = revisions.length + 1
    // The first attempt looks, too: one that took the task over from it may have been faster.
    const other = await find(commit)
    if (other !== undefined) return { revision: other, isNew: false }
    // Asked last, so that as little time as possible lies between the answer and the commit.
    if (!(await isOurs())) throw new LeaseLost(cause.name)
    const marker = formatMarker({ ...cause, commit })
    try {
      const revision = await repository.commit(workspace, { message, marker, ...(author ? { author } : {}) })
      return { revision, isNew: true }
    } catch (error) {
      // The answer may have been lost on its way, and the commit made.
      const made = await find(commit).catch(() => undefined)
      if (made === undefined) throw error
      return { revision: made, isNew: true }
    }
  }
  let last: Promise<unknown> = Promise.resolve()
  return {
    revisions,
    /** One after another: they share the workspace. */
    commit(request) {
      const committed = last.then(async () => {
        const made = await make(request)
        if (made.revision !== undefined) revisions.push(made.revision)
        return made
      })
      last = committed.catch(() => {})
      return committed
    },
  }
}
