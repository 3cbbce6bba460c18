import type { AddedTask, AddedTasks } from './add.ts'
import { type AddOptions, type CheckedItems, checkWorker, type GivenItems } from './add-options.ts'
import type { InputOf, OutputOf, Schema } from './schema.ts'
import type { Condition, TaskId } from './task.ts'
import type { ApplicationEvent } from './task-event.ts'
import type { WorkError } from './work-error.ts'

/** A requirement: a task that must have succeeded, or a task and what of it is waited for. */
export type Requirement = TaskId | { readonly task: TaskId; readonly when?: Condition }

const LATER = Symbol('later')
const UNCHANGED = Symbol('unchanged')

export type LaterOptions = {
  /** Wait for these first. */
  readonly requires?: readonly Requirement[]
  /** Wait at least this long. */
  readonly delaySeconds?: number
}
export type Later = { readonly [LATER]: true } & LaterOptions
export type Unchanged<Result> = { readonly [UNCHANGED]: true; readonly result: Result }

/** Asks to perform the task again: when its new requirements are met, after a delay, or both. */
export function later(options: LaterOptions = {}): Later {
  return { ...options, [LATER]: true }
}

/** Succeeds without running again what depends on the task: its result is what it was before. */
export function unchanged<Result = undefined>(result?: Result): Unchanged<Result> {
  return { [UNCHANGED]: true, result: result as Result }
}

export const isLater = (value: unknown): value is Later => typeof value === 'object' && value !== null && LATER in value
export const isUnchanged = (value: unknown): value is Unchanged<unknown> =>
  typeof value === 'object' && value !== null && UNCHANGED in value

/** A task as its worker sees it. */
export type WorkedTask<Payload> = {
  readonly id: TaskId
  readonly kind: string
  readonly scope: string
  readonly key: string | null
  readonly payload: Payload
  /** The task whose callback added this one. */
  readonly creator: TaskId | null
  /** Transient errors so far. */
  readonly failures: number
  /** Dispatchers that died while they had it. */
  readonly deaths: number
  /** The number of this attempt: raised by every claim, also by those that came to nothing. */
  readonly epoch: number
}

export type Log = (message: string, fields?: Record<string, unknown>) => void

export type WorkContext<Payload> = {
  readonly payload: Payload
  readonly task: WorkedTask<Payload>
  /** Aborts when the task is canceled, its lease is lost, or the dispatcher must stop. */
  readonly signal: AbortSignal
  readonly log: Log
}

/**
 * The transaction in which an outcome commits. What a callback writes through it stands exactly when the
 * outcome does.
 */
export type Tx = {
  // biome-ignore lint/suspicious/noExplicitAny: rows have the shape of the caller's own query
  query(text: string, values?: unknown[]): Promise<{ rows: any[]; rowCount: number | null }>
  add<W extends AnyWorker>(
    worker: W,
    payload: PayloadInput<W>,
    options?: Omit<AddOptions, 'client'>,
  ): Promise<AddedTask>
  addMany<Items extends GivenItems>(items: CheckedItems<Items>): Promise<AddedTasks<Items>>
  /** Adds requirements to a task that has not started, or to the task this transaction belongs to. */
  require(task: TaskId, requires: readonly Requirement[]): Promise<void>
  /** Tells subscribers of something, if and when the transaction commits. */
  publish(event: ApplicationEvent): Promise<void>
}

export type ErrorCategory = 'transient' | 'permanent' | 'advisory'

/** What a failed attempt means for its task. */
export type Failure = {
  /** The number of the attempt, as `millrace.attempts` counts. */
  readonly attempt: number
  /** Transient: may be retried; permanent: the task fails; advisory: the task succeeds, with the error on record. */
  readonly category: ErrorCategory
  /** The task ends with this attempt. False: it will be retried. */
  readonly isLast: boolean
}

export type Backoff = { readonly firstSeconds: number; readonly factor: number; readonly maxSeconds: number }

type Result<Returned> =
  | Exclude<Returned, Later | Unchanged<unknown>>
  | (Returned extends Unchanged<infer R> ? R : never)

export type Worker<S extends Schema, Returned> = {
  /** Names the worker; tasks of this kind are performed by it. */
  readonly kind: string
  readonly payload: S
  /** The queue its tasks go to unless `add` says otherwise. Default: `default`. */
  readonly queue?: string
  /** Performances that may end in a transient error before the task fails. Default: 20. */
  readonly maxAttempts?: number
  readonly backoff?: Partial<Backoff>
  /** Decides what an error means; undefined leaves it to the error itself. */
  classify?(error: unknown): ErrorCategory | undefined
  work(context: WorkContext<OutputOf<S>>): Returned | Promise<Returned>
  onSuccess?(tx: Tx, task: WorkedTask<OutputOf<S>>, result: Result<Returned>): Promise<void> | void
  /** True: `onSuccess` has nothing to write for this result, and it is recorded with others at once. Default: false. */
  isPlain?(result: Result<Returned>): boolean
  /** Runs for every attempt that fails, also for those that are retried and for advisory errors. */
  onFailure?(tx: Tx, task: WorkedTask<OutputOf<S>>, error: WorkError, failure: Failure): Promise<void> | void
  onReschedule?(tx: Tx, task: WorkedTask<OutputOf<S>>): Promise<void> | void
}

// biome-ignore lint/suspicious/noExplicitAny: a list of workers has many payloads; each one's own types hold at its definition
export type AnyWorker = Worker<any, any>
export type PayloadInput<W> = W extends Worker<infer S, infer _> ? InputOf<S> : never
/** What its tasks succeed with: the value that `work` returns, without `later`. */
export type ResultOf<W> = W extends Worker<infer _, infer Returned> ? Result<Returned> : never

/**
 * Defines a worker. The payload's type flows from the schema, the result's from `work`, into every callback. Throws
 * `InvalidOption` for a kind or queue that is empty, longer than 1000 bytes, or has control characters.
 */
export function defineWorker<S extends Schema, Returned>(worker: Worker<S, Returned>): Worker<S, Returned> {
  checkWorker(worker)
  return worker
}
