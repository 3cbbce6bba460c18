// Where the time of tasks went: waiting for others, ready without a place, running, waiting to be tried again.
import type { Db } from '../db/index.ts'
import { type Condition, isTerminal, type TaskState } from './task.ts'
import { readEdgesAmong, readTimes, windowTasks } from './timeline.sql.ts'

const MOST_ATTEMPTS = 50
const MOST_EDGES = 10_000
const MOST_SCANNED = 100_000

/** `over`: it had ended, and was asked for again at the end of this. */
export type SpanKind = 'waiting' | 'ready' | 'running' | 'delayed' | 'held' | 'over'

export type Span = {
  readonly kind: SpanKind
  readonly from: Date
  /** Null: it goes on. */
  readonly to: Date | null
  /** Of a performance: how it ended, null while it goes on; and who performed it. */
  readonly outcome: string | null
  readonly worker: { readonly id: number; readonly name: string } | null
}

export type TimelineTask = {
  readonly id: string
  readonly kind: string | null
  readonly scope: string
  readonly key: string | null
  readonly state: TaskState
  readonly spans: readonly Span[]
}

export type Timeline = {
  readonly now: Date
  readonly tasks: readonly TimelineTask[]
  readonly edges: readonly { readonly from: string; readonly to: string; readonly when: Condition }[]
  /** The tasks that the end of the last one waited for, each for the one before it. */
  readonly critical: readonly string[]
  /** There are more tasks, or more edges, than are told of. */
  readonly isCut: boolean
}

/** Tasks that ran in a time, on one dispatcher or on all. */
export async function tasksInWindow(
  db: Db,
  { from, to, dispatcher, limit }: { from: Date; to: Date; dispatcher?: number | undefined; limit: number },
): Promise<{ readonly ids: readonly string[]; readonly isCut: boolean }> {
  const found = await windowTasks(db, { from, to, holder: dispatcher ?? null, limit, scan: MOST_SCANNED })
  return { ids: found.ids, isCut: found.is_cut }
}

type Row = Awaited<ReturnType<typeof readTimes>>[number]

/** `db` is a snapshot: times of different moments would overlap. */
export async function timeline(db: Db, ids: readonly string[], isCut: boolean): Promise<Timeline> {
  const rows = await readTimes(db, { ids, most: MOST_ATTEMPTS })
  const byTask = new Map<string, Row[]>()
  for (const row of rows) byTask.set(row.task, [...(byTask.get(row.task) ?? []), row])
  const edges = await readEdgesAmong(db, { ids, limit: MOST_EDGES })
  const tasks = [...byTask.values()].flatMap(toTask)
  return {
    now: rows[0]?.now ?? new Date(),
    tasks,
    edges: edges.flatMap(({ prerequisite: from, dependent: to, condition: when }) =>
      when === 'ended' ? [] : [{ from, to, when }],
    ),
    critical: criticalPath(tasks, edges),
    isCut: isCut || edges.length >= MOST_EDGES,
  }
}

function toTask(rows: readonly Row[]): TimelineTask[] {
  const last = rows.at(-1)
  // Between two moments of its life: the next look finds it.
  if (last === undefined || !last.is_last) return []
  const { task: id, kind, scope, key } = last
  return [{ id, kind, scope, key, state: last.outcome as TaskState, spans: spansOf(rows) }]
}

function spansOf(rows: readonly Row[]): Span[] {
  const spans = new Spans(rows[0]?.created_at ?? new Date(0))
  let next: SpanKind = 'waiting'
  for (const row of rows) {
    const wasPerformed = row.started_at !== null && row.prior === null && row.outcome !== 'ready'
    if (row.ready_at !== null) spans.until(row.ready_at, next)
    if (wasPerformed && row.started_at !== null) {
      spans.until(row.started_at, 'ready')
      spans.until(row.ended_at, 'running', row)
    } else if (row.is_last) spans.until(row.ended_at, restingKind(row))
    next = nextKind(row)
  }
  return spans.all
}

/** What a task did that stands, or ended, without having been performed since. */
function restingKind({ outcome, prior }: Row): SpanKind {
  const kind = prior ?? outcome
  return kind === 'ready' || kind === 'delayed' || kind === 'held' ? kind : 'waiting'
}

function nextKind({ outcome, next }: Row): SpanKind {
  if (isTerminal(outcome as TaskState)) return 'over'
  return next === 'delayed' || next === 'held' ? next : 'waiting'
}

/**
 * Spans that follow each other: none goes backwards, whatever the clock did. None is empty except a performance, which is
 * told of however short it was.
 */
class Spans {
  readonly all: Span[] = []
  #at: Date | null

  constructor(at: Date) {
    this.#at = at
  }

  until(to: Date | null, kind: SpanKind, row?: Row): void {
    const from = this.#at
    if (from === null) return
    const isShort = to !== null && to <= from
    if (isShort && kind !== 'running') return
    const end = isShort ? from : to
    this.#at = end
    const worker = row === undefined || row.holder === null ? null : { id: row.holder, name: row.dispatcher ?? '' }
    this.all.push({ kind, from, to: end, outcome: row === undefined || end === null ? null : row.outcome, worker })
  }
}

type Edge = { readonly prerequisite: string; readonly dependent: string }

/** From the task that ended last back through what each waited for longest. */
function criticalPath(tasks: readonly TimelineTask[], edges: readonly Edge[]): string[] {
  const ends = new Map(tasks.map(({ id, spans }) => [id, endOf(spans)]))
  const needs = new Map<string, string[]>()
  for (const { prerequisite, dependent } of edges) needs.set(dependent, [...(needs.get(dependent) ?? []), prerequisite])
  const latest = (ids: readonly string[]) =>
    ids.reduce<string | undefined>(
      (best, id) => (best === undefined || (ends.get(id) ?? 0) > (ends.get(best) ?? 0) ? id : best),
      undefined,
    )
  const path: string[] = []
  for (let at = latest([...ends.keys()]); at !== undefined && !path.includes(at); at = latest(needs.get(at) ?? []))
    path.unshift(at)
  return path
}

const endOf = (spans: readonly Span[]) => {
  const last = spans.at(-1)
  return last === undefined ? 0 : (last.to?.getTime() ?? Number.POSITIVE_INFINITY)
}
