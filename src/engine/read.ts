import type { Db } from '../db/index.ts'
import { toTaskId } from './add.ts'
import { KindDiffers, TaskNotFound } from './errors.ts'
import {
  readAttempts,
  readDependents,
  readHistory,
  readLease,
  readRequirements,
  readTask,
  readUnderWay,
} from './reads.sql.ts'
import type { Stored } from './stored.ts'
import type { Condition, TaskId, TaskState } from './task.ts'
import type { AnyWorker, PayloadInput, ResultOf } from './worker.ts'

/** A task by its id, or by the key it has in its scope. */
export type TaskRef = TaskId | { readonly scope: string; readonly key: string }

export type Task = {
  readonly id: TaskId
  /** Null: a milestone. */
  readonly kind: string | null
  readonly queue: string | null
  readonly scope: string
  readonly key: string | null
  readonly priority: number
  readonly payload: unknown
  readonly creator: TaskId | null
  readonly actor: string | null
  readonly state: TaskState
  /** Requirements that are not met yet. */
  readonly unmet: number
  readonly createdAt: Date
  readonly readyAt: Date | null
  readonly startedAt: Date | null
  readonly finishedAt: Date | null
  readonly notBefore: Date | null
  readonly failures: number
  readonly deaths: number
  readonly maxAttempts: number
  /** The dispatcher that runs it, or ran it last. */
  readonly dispatcher: { readonly id: number; readonly name: string } | null
  /** It runs and was asked to stop. */
  readonly isCanceling: boolean
  readonly cause: string | null
  /** The task that superseded it, or whose end made it impossible. */
  readonly culprit: TaskId | null
  readonly supersededBy: TaskId | null
  readonly heldBy: string | null
  readonly error: unknown
  readonly output: unknown
}

/** A task of a worker. */
export type TaskOf<W extends AnyWorker> = Omit<Task, 'kind' | 'payload' | 'output'> & {
  readonly kind: string
  /** As it was added. */
  readonly payload: Stored<PayloadInput<W>>
  /** The result; null until the task has succeeded. */
  readonly output: Stored<ResultOf<W>> | null
}

/** The task of that worker. Throws `TaskNotFound`, and `KindDiffers` for a task of another one. */
export async function readOf<W extends AnyWorker>(db: Db, worker: W, ref: TaskRef): Promise<TaskOf<W>> {
  const task = await read(db, ref)
  if (task.kind !== worker.kind) throw new KindDiffers(task.id, task.kind, worker.kind)
  return task as TaskOf<W>
}

/** The task. Throws `TaskNotFound`. */
export async function read(db: Db, ref: TaskRef): Promise<Task> {
  const byId = typeof ref === 'string'
  const row = await readTask(
    db,
    byId ? { id: toTaskId(ref), scope: null, key: null } : { id: null, scope: ref.scope, key: ref.key },
  )
  if (row === undefined) throw new TaskNotFound(byId ? ref : `${ref.key} of scope ${ref.scope}`)
  return {
    id: row.id,
    kind: row.kind,
    queue: row.queue,
    scope: row.scope,
    key: row.key,
    priority: row.priority,
    payload: row.payload,
    creator: row.creator,
    actor: row.actor,
    state: row.state,
    unmet: row.unmet,
    createdAt: row.created_at,
    readyAt: row.ready_at,
    startedAt: row.started_at,
    finishedAt: row.finished_at,
    notBefore: row.not_before,
    failures: row.failures,
    deaths: row.deaths,
    maxAttempts: row.max_attempts,
    dispatcher: row.holder === null ? null : { id: row.holder, name: row.dispatcher ?? '' },
    isCanceling: row.is_canceling,
    cause: row.cause,
    culprit: row.culprit,
    supersededBy: row.state === 'canceled' || row.is_canceling ? row.culprit : null,
    heldBy: row.held_by,
    error: row.error,
    output: row.output,
  }
}

export type Neighbour = {
  readonly id: TaskId
  readonly kind: string | null
  readonly scope: string
  readonly key: string | null
  readonly state: TaskState
  readonly when: Condition
}

const MOST_NEIGHBOURS = 1000

/** What the task requires, at most the first thousand. */
export async function requirements(db: Db, id: TaskId): Promise<(Neighbour & { isMet: boolean })[]> {
  const rows = await readRequirements(db, { id: toTaskId(id), limit: MOST_NEIGHBOURS })
  return rows.map((row) => ({ ...toNeighbour(row), isMet: row.is_met }))
}

/** What requires the task, at most the first thousand. */
export async function dependents(db: Db, id: TaskId): Promise<Neighbour[]> {
  return (await readDependents(db, { id: toTaskId(id), limit: MOST_NEIGHBOURS })).map(toNeighbour)
}

type NeighbourRow = Omit<Neighbour, 'when'> & { condition: Condition | 'ended' }

function toNeighbour(row: NeighbourRow): Neighbour {
  const { id, kind, scope, key, state } = row
  return { id, kind, scope, key, state, when: row.condition === 'ended' ? 'finished' : row.condition }
}

export type HistoryEntry = {
  readonly at: Date
  /** What happened, in the past tense. */
  readonly name: string
  readonly from: TaskState | null
  readonly to: TaskState | null
  readonly cause: string | null
  readonly culprit: TaskId | null
  readonly actor: string | null
  readonly dispatcher: { readonly id: number; readonly name: string } | null
  readonly epoch: number | null
  readonly error: unknown
}

/** Everything that happened to the task, in order. */
export async function history(db: Db, id: TaskId): Promise<HistoryEntry[]> {
  const rows = await readHistory(db, { task: toTaskId(id) })
  let last: TaskState | null = null
  const states = rows.map((row) => {
    const from = row.next === null ? null : last
    last = row.next ?? last
    return from
  })
  return rows.map((row, i) => ({
    at: row.at,
    name: row.name,
    from: states[i] ?? null,
    to: row.next,
    cause: row.cause,
    culprit: row.culprit,
    actor: row.actor,
    dispatcher: row.holder === null ? null : { id: row.holder, name: row.dispatcher ?? '' },
    epoch: row.epoch,
    error: row.error,
  }))
}

export type Attempt = {
  readonly number: number
  /** Of its lease; what the attempt printed is kept under it. */
  readonly epoch: number
  /** Null while it runs. */
  readonly outcome: string | null
  readonly startedAt: Date
  readonly endedAt: Date | null
  readonly dispatcher: { readonly id: number; readonly name: string } | null
  readonly error: unknown
  readonly output: unknown
}

export type AttemptsOptions = {
  /** Only so many, the last ones. Default: all. */
  readonly last?: number
  /** Only this one. */
  readonly number?: number
}

/** The performances of the task, the first one first. */
export async function attempts(db: Db, id: TaskId, { last, number }: AttemptsOptions = {}): Promise<Attempt[]> {
  const rows = await readAttempts(db, { task: toTaskId(id), number: number ?? null, limit: last ?? null })
  return rows.reverse().map((row) => ({
    number: row.number,
    epoch: row.epoch,
    outcome: row.outcome,
    startedAt: row.started_at,
    endedAt: row.ended_at,
    dispatcher: row.holder === null ? null : { id: row.holder, name: row.dispatcher ?? '' },
    error: row.error,
    output: row.output,
  }))
}

/** Whether the attempt with this epoch runs. Costs the same however many there were. */
export async function isUnderWay(db: Db, id: TaskId, epoch: number): Promise<boolean> {
  return (await readUnderWay(db, { task: toTaskId(id), epoch })).is_so
}

/** Whether the attempt with this epoch has the task; `lost`: no dispatcher has it, and the attempt may be resumed. */
export async function leaseOf(db: Db, id: TaskId, epoch: number): Promise<'held' | 'lost' | 'gone'> {
  return (await readLease(db, { task: toTaskId(id), epoch }))?.lease ?? 'gone'
}
