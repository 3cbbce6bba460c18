// Revisions of an archive after its cursor, cut into stretches that are planned together: those with the same workflow
// files, as many as one transaction takes well. Reading goes on while the stretch before is planned.
import type { Pool } from '../db/index.ts'
import type { LogEntry, Repository } from '../vcs/index.ts'
import { noticesFrom } from './archives.sql.ts'
import type { FileBytes } from './definition/source.ts'
import type { RevisionRef } from './payload.ts'
import type { Arrived } from './plan-revision.ts'
import { type Defined, define, mayChangeWorkflows, readWorkflows } from './workflow-files.ts'

const MOST_REVISIONS = 200
const MOST_TASKS = 2000
const MOST_CHANGES = 20_000

type Read = { readonly revision: Arrived; readonly defined: Defined }
export type Cut = { readonly revisions: readonly Arrived[]; readonly defined: Defined }

type Reading = {
  readonly after: RevisionRef
  /** The workflow files at the cursor, when they were read before. */
  readonly known: Defined | undefined
  /** Somebody has told of a revision: there will be something to read. */
  readonly isExpected: boolean
}

/** What the repository has after the cursor. Nothing is answered of another one that has come to the same place. */
export async function* fromRepository(
  repository: Repository,
  { after, known, isExpected }: Reading,
): AsyncGenerator<Read, void> {
  const check = () => {
    const asked = repository.youngest()
    asked.catch(() => {})
    return asked
  }
  // The log of Subversion does not say of which repository it is.
  let checked = isExpected && repository.type === 'svn' ? check() : undefined
  let defined = known
  for await (const entry of repository.log({ after })) {
    checked ??= repository.type === 'svn' ? check() : undefined
    await checked
    if (defined === undefined || entry.isCut || mayChangeWorkflows(entry.changes))
      defined = await readWorkflows(repository, { number: entry.number, id: entry.id })
    yield { revision: toArrived(entry), defined }
  }
}

function toArrived(entry: LogEntry): Arrived {
  const { number, id, author, date, message, changes, isCut, marks } = entry
  return {
    number,
    id,
    author: author ?? null,
    date: date ?? null,
    message,
    changes: changes.map(({ action, path, kind }) => [action, kind === 'folder' && path !== '' ? `${path}/` : path]),
    isCut,
    marker: marks['cause'] ?? null,
  }
}

/** What a notice of an archive without a repository carries. */
export type NoticeContent = {
  readonly author: string | null
  readonly date: string | null
  readonly message: string
  readonly paths: readonly string[]
  readonly files: readonly { readonly path: string; readonly text: string }[]
}

const AT_ONCE = 200

/** What was announced after the cursor, up to the first revision that was not. */
export async function* fromNotices(pool: Pool, archive: string, after: RevisionRef): AsyncGenerator<Read, void> {
  for (let last = after.number; ; ) {
    const notices = await noticesFrom(pool, { archive, after: String(last), limit: AT_ONCE })
    for (const { number, content, received_at: receivedAt } of notices) {
      if (Number(number) !== last + 1) return
      last += 1
      yield toRead(last, (content ?? {}) as Partial<NoticeContent>, receivedAt)
    }
    if (notices.length < AT_ONCE) return
  }
}

function toRead(number: number, content: Partial<NoticeContent>, receivedAt: Date): Read {
  const { author = null, date, message = '', paths = [], files = [] } = content
  const revision: Arrived = {
    number,
    id: String(number),
    author,
    date: date == null ? receivedAt : new Date(date),
    message,
    changes: paths.map((path) => ['M', path] as const),
    isCut: false,
    marker: null,
  }
  return { revision, defined: define(files.map(({ path, text }): FileBytes => ({ path, bytes: Buffer.from(text) }))) }
}

/** Cuts what was read where the workflow files change, or where it is enough for one transaction. */
export async function* cut(source: AsyncIterable<Read>): AsyncGenerator<Cut, void> {
  let revisions: Arrived[] = []
  let defined: Defined | undefined
  let changes = 0
  let most = MOST_REVISIONS
  for await (const read of source) {
    const isOther = defined !== undefined && !read.defined.hash.equals(defined.hash)
    if (defined !== undefined && (isOther || revisions.length >= most || changes > MOST_CHANGES)) {
      yield { revisions, defined }
      revisions = []
      changes = 0
    }
    defined = read.defined
    most = atMost(defined)
    revisions.push(read.revision)
    changes += read.revision.changes.length
  }
  if (defined !== undefined && revisions.length > 0) yield { revisions, defined }
}

function atMost({ definition }: Defined): number {
  const count = definition.workflows.reduce((sum, { tasks }) => sum + tasks.length, 1)
  return Math.max(1, Math.min(MOST_REVISIONS, Math.floor(MOST_TASKS / count)))
}

/** Reads one piece further than was asked for, so that reading and what is done with it overlap. */
export async function* ahead<T>(source: AsyncGenerator<T, void>): AsyncGenerator<T, void> {
  const ask = () => {
    const asked = source.next()
    // Whoever waits for it gets the error; until then it is nobody's.
    asked.catch(() => {})
    return asked
  }
  let next = ask()
  try {
    for (let piece = await next; !piece.done; piece = await next) {
      next = ask()
      yield piece.value
    }
  } finally {
    await source.return(undefined)
  }
}
