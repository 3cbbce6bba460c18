import type { Db } from '../db/index.ts'
import { nameOfTask } from '../engine/index.ts'
import type { Archive } from './archive.ts'
import { formatKey } from './definition/key.ts'
import { RevisionNotPlanned } from './errors.ts'
import { find } from './find.ts'
import { findPlanned } from './find-revision.ts'
import type { Problem } from './problem.ts'
import { announcedAfter, edgesOf, filesBefore, listRevisions, revisionDetail, revisionTasks } from './reading.sql.ts'

/**
 * Follows from its tasks: `planned` before any of them has begun, `running`, and when all are over `failed`, `canceled` or
 * `succeeded` by the worst of them. `broken`: its workflow files have errors, so it has no tasks.
 */
export type RevisionState = 'planned' | 'running' | 'succeeded' | 'failed' | 'canceled' | 'broken'

export type RevisionSummary = {
  readonly number: number
  readonly id: string
  readonly state: RevisionState
  readonly author: string | null
  readonly date: Date | null
  readonly message: string
  readonly plannedAt: Date
  /** How many machine commits led to it, and which task made it. */
  readonly depth: number
  readonly cause: { readonly marker: string } | null
  readonly problems: readonly Problem[]
  readonly taskCount: number
}

export type RevisionTask = {
  readonly id: string
  readonly key: string
  readonly name: string
  readonly run: string | null
  readonly workflow: string | null
  readonly isExclusive: boolean
  readonly state: string
  readonly startedAt: Date | null
  readonly finishedAt: Date | null
  readonly supersededBy: string | null
}

export type RevisionEdge = {
  /** `to` waits for `from` until the condition, or cancels it. */
  readonly from: string
  readonly to: string
  readonly kind: string
}

export type RevisionDetail = RevisionSummary & {
  readonly previous: number | null
  readonly txn: string | null
  readonly announcedAt: Date | null
  readonly changes: readonly (readonly [action: string, path: string])[]
  readonly changesCut: boolean
  readonly files: readonly { readonly path: string; readonly text?: string; readonly base64?: string }[]
  /** Those of the revision before, when they were others; null: they were the same, or there is none. */
  readonly previousFiles: RevisionDetail['files'] | null
  /** The last ones, in the order in which they were made. */
  readonly tasks: readonly RevisionTask[]
  /** There are more, older than these: runs by schedule and by hand have no end. */
  readonly tasksCut: boolean
  readonly edges: readonly RevisionEdge[]
}

const MOST = '9223372036854775807'
const MOST_EDGES = 20_000
const MOST_TASKS = 1000
/** More than a definition has tasks: so the state of a revision counts its own, and the last of its runs. */
const MOST_COUNTED = 5000

type Page = { readonly before?: number | undefined; readonly limit: number }

/** Revisions that were planned, the youngest first. */
export async function revisions(db: Db, name: string, { before, limit }: Page): Promise<RevisionSummary[]> {
  const { id } = await find(db, name)
  const rows = await listRevisions(db, {
    archive: id,
    before: before === undefined ? MOST : String(before),
    from: '0',
    limit,
    most: MOST_COUNTED,
  })
  return rows.map(toSummary)
}

/** One revision with its tasks and their edges. Throws `RevisionNotPlanned`. */
export async function revision(db: Db, name: string, number: number): Promise<RevisionDetail> {
  const archive = await find(db, name)
  const at = { archive: archive.id, number: String(number) }
  const [row] = await listRevisions(db, {
    archive: archive.id,
    before: String(number + 1),
    from: String(number),
    limit: 1,
    most: MOST_COUNTED,
  })
  const detail = await revisionDetail(db, at)
  if (row === undefined || detail === undefined)
    throw new RevisionNotPlanned(name, number, { first: archive.first, last: archive.planned.number })
  const found = await revisionTasks(db, { ...at, limit: MOST_TASKS + 1 })
  const tasks = found.slice(-MOST_TASKS)
  const keys = new Map(
    tasks.map(({ task, name: own, run }) => [
      task,
      formatKey({ archive: name, rev: number, name: own, run: run === '' ? undefined : run }),
    ]),
  )
  const before = await filesBefore(db, {
    archive: archive.id,
    number: String(number - 1),
    definition: detail.definition,
  })
  const edges = await edgesOf(db, { tasks: tasks.map(({ task }) => task), limit: MOST_EDGES })
  return {
    ...toSummary(row),
    previous: number > archive.first ? number - 1 : null,
    txn: detail.txn,
    announcedAt: detail.announced_at,
    changes: detail.changes as [string, string][],
    changesCut: detail.changes_cut,
    files: detail.files as RevisionDetail['files'],
    previousFiles: (before?.files ?? null) as RevisionDetail['files'] | null,
    tasks: tasks.map((task) => ({
      id: task.task,
      key: keys.get(task.task) ?? '',
      name: task.name,
      run: task.run === '' ? null : task.run,
      workflow: task.workflow,
      isExclusive: task.is_exclusive,
      state: task.state,
      startedAt: task.started_at,
      finishedAt: task.finished_at,
      supersededBy: task.superseded_by,
    })),
    tasksCut: found.length > MOST_TASKS,
    edges: edges.map(({ task, kind, other, scope, key }) => ({
      from: keys.get(other) ?? nameOfTask({ scope, key }) ?? other,
      to: keys.get(task) ?? task,
      kind,
    })),
  }
}

/** The ids of its last tasks, runs by hand and schedule included. Throws `ArchiveNotFound` and `RevisionNotPlanned`. */
export async function tasksOf(db: Db, name: string, { rev, limit }: { rev: number; limit: number }): Promise<string[]> {
  const { archive } = await findPlanned(db, name, rev)
  return (await revisionTasks(db, { archive, number: String(rev), limit })).map(({ task }) => task)
}

function toSummary(row: Awaited<ReturnType<typeof listRevisions>>[number]): RevisionSummary {
  return {
    number: Number(row.number),
    id: row.id,
    state: toState(row),
    author: row.author,
    date: row.date,
    message: row.message,
    plannedAt: row.planned_at,
    depth: row.depth,
    cause: row.cause as RevisionSummary['cause'],
    problems: row.problems as Problem[],
    taskCount: row.task_count,
  }
}

type Counted = {
  readonly task_count: number
  readonly unfinished: number
  readonly begun: number
  readonly failed: number
  readonly canceled: number
  readonly problems: unknown
}

function toState({ task_count: count, unfinished, begun, failed, canceled, problems }: Counted): RevisionState {
  if (count === 0 && (problems as Problem[]).some(({ severity }) => severity === 'error')) return 'broken'
  if (unfinished > 0) return begun > 0 ? 'running' : 'planned'
  if (failed > 0) return 'failed'
  return canceled > 0 ? 'canceled' : 'succeeded'
}

export type Gap = {
  readonly first: number
  readonly last: number
  /** `not_announced`: nobody has told of them. `not_planned`: they are there, and their turn has not come. */
  readonly reason: 'not_announced' | 'not_planned'
  /** When a younger one was announced, or when these were. */
  readonly since: Date | null
}

const MOST_NOTICES = 10_000

/** What lies between the cursor and the youngest revision that is known. */
export async function gaps(db: Db, name: string): Promise<{ archive: Archive; gaps: Gap[] }> {
  const archive = await find(db, name)
  const { number: planned } = archive.planned
  const last = archive.youngest.number
  if (archive.source.type !== 'push')
    return {
      archive,
      gaps: last > planned ? [{ first: planned + 1, last, reason: 'not_planned', since: archive.announcedAt }] : [],
    }
  const found: Gap[] = []
  let expected = planned + 1
  for (const notice of await announcedAfter(db, { archive: archive.id, after: String(planned), limit: MOST_NOTICES })) {
    const number = Number(notice.number)
    const since = notice.received_at
    if (number > expected) found.push({ first: expected, last: number - 1, reason: 'not_announced', since })
    const open = found.at(-1)
    if (open?.reason === 'not_planned' && open.last === number - 1) found[found.length - 1] = { ...open, last: number }
    else found.push({ first: number, last: number, reason: 'not_planned', since })
    expected = number + 1
  }
  return { archive, gaps: found }
}
