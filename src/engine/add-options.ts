// What can be said of a task when it is added, and what of that cannot be used.
import type { Db } from '../db/index.ts'
import { InvalidOption } from './errors.ts'
import type { Condition, TaskId } from './task.ts'
import { checkName, checkPlainName, checkText } from './text.ts'
import type { AnyWorker, PayloadInput } from './worker.ts'

/** An earlier or later item of the same call, by its position. */
export type ItemRef = { readonly item: number; readonly when?: Condition }
/**
 * A task that is canceled. `isChain`: so is what that one would have canceled by such an edge of its own, unless it has
 * become ready and done so itself. A line of tasks, each canceling all before it, needs one edge for each.
 */
export type CancelRef = TaskId | ({ readonly isChain?: boolean } & (ItemRef | { readonly task: TaskId }))
export type RequirementRef = TaskId | { readonly task: TaskId; readonly when?: Condition } | ItemRef

export type AddOptions = {
  /** Unique within the scope: adding it again answers the task that is there. */
  readonly key?: string
  /** The line of its own that the task belongs to. Default: `default`. */
  readonly scope?: string
  readonly queue?: string
  /** Lower runs first. Default: 0. */
  readonly priority?: number
  readonly requires?: readonly RequirementRef[]
  /** Tasks that are canceled when this one becomes ready. */
  readonly cancels?: readonly CancelRef[]
  /** Not before this time, by the database's clock. */
  readonly notBefore?: Date
  readonly delaySeconds?: number
  readonly maxAttempts?: number
  /** Names that only one running task may have at a time. */
  readonly locks?: readonly string[]
  /** At most `max` tasks of the group run at once. */
  readonly limit?: { readonly group: string; readonly max: number }
  /** Add it stopped: it starts once it is released. The text says by whom. */
  readonly heldBy?: string
  /** Who adds it, for the record. */
  readonly actor?: string
  /** A `pg` client in a transaction of the caller's: the task exists if and when that commits. */
  readonly client?: Db
}

/** A task of the worker `W`, with the payload that this worker takes. `string`: a worker named by its kind; `undefined`: a milestone. */
export type AddItem<W = AnyWorker | string | undefined> = Omit<AddOptions, 'client' | 'actor'> & WorkItem<W>

type WorkItem<W> = W extends AnyWorker
  ? { readonly worker: W; readonly payload: PayloadInput<W>; readonly milestone?: never }
  : W extends string
    ? { readonly worker: W; readonly payload: unknown; readonly milestone?: never }
    : /** A task without a kind: it succeeds by itself once its requirements are met. */
      { readonly milestone: true; readonly worker?: never; readonly payload?: unknown }

/** A list of items before each is compared with its worker. As a list that is written out, it is known by position. */
export type GivenItems = readonly GivenItem[] | readonly []
type GivenItem = Omit<AddOptions, 'client' | 'actor'> & {
  readonly worker?: AnyWorker | string
  readonly payload?: unknown
  readonly milestone?: true
}
/** The same list: each item has the payload of its own worker, and no property that does not exist. */
export type CheckedItems<Items extends GivenItems> = { [K in keyof Items]: Items[K] & CheckedItem<Items[K]> }
type CheckedItem<Item> = AddItem<Item extends { readonly worker: infer W } ? W : undefined> & {
  readonly [K in Exclude<keyof Item, keyof GivenItem>]: never
}

/** Throws `InvalidOption` for what cannot be used, whatever the other items are. */
export function checkOptions(item: AddItem): void {
  const { key, scope, queue, heldBy, locks, limit, priority, maxAttempts, delaySeconds, notBefore } = item
  if (key !== undefined) checkName('key', key)
  if (scope !== undefined) checkName('scope', scope)
  if (queue !== undefined) checkPlainName('queue', queue)
  if (heldBy !== undefined) checkText('heldBy', heldBy)
  if (locks !== undefined) for (const lock of locks) checkName('the name of a lock', lock)
  if (limit !== undefined) checkName('the group of a limit', limit.group)
  if (priority !== undefined) checkPriority(priority)
  if (maxAttempts !== undefined) checkMaxAttempts(maxAttempts)
  if (delaySeconds !== undefined && !(delaySeconds >= 0 && delaySeconds < 1e10))
    throw new InvalidOption(`delaySeconds must be a number of seconds, not ${delaySeconds}`)
  if (notBefore !== undefined && Number.isNaN(notBefore.getTime()))
    throw new InvalidOption('notBefore is not a valid date')
  if (limit !== undefined) checkMax(limit.group, limit.max)
}

export function checkMax(group: string, max: number): void {
  if (!(Number.isInteger(max) && max >= 1 && max < 2 ** 31))
    throw new InvalidOption(`the maximum of limit "${group}" must be a whole number of at least 1, not ${max}`)
}

function checkMaxAttempts(maxAttempts: number): void {
  if (!(Number.isInteger(maxAttempts) && maxAttempts >= 1 && maxAttempts < 2 ** 15))
    throw new InvalidOption(`maxAttempts must be a whole number from 1 to 32767, not ${maxAttempts}`)
}

/** Throws `InvalidOption` for a worker that no task could be performed by. */
export function checkWorker(worker: AnyWorker): void {
  const { kind, queue, maxAttempts, payload } = worker
  checkPlainName('the kind of a worker', kind)
  if (queue !== undefined) checkPlainName(`the queue of worker "${kind}"`, queue)
  if (maxAttempts !== undefined) checkMaxAttempts(maxAttempts)
  if (typeof worker.work !== 'function') throw new InvalidOption(`worker "${kind}" has no function "work"`)
  if (typeof payload?.['~standard']?.validate !== 'function')
    throw new InvalidOption(
      `the payload of worker "${kind}" is no schema; use one that implements Standard Schema, such as zod`,
    )
}

export function checkPriority(priority: number): void {
  if (!(Number.isInteger(priority) && Math.abs(priority) < 2 ** 31))
    throw new InvalidOption(`priority must be a whole number of 32 bits, not ${priority}`)
}

const CONDITIONS: ReadonlySet<string> = new Set(['succeeded', 'failed', 'finished'] satisfies Condition[])

export function toCondition(when: Condition): Condition {
  if (!CONDITIONS.has(when))
    throw new InvalidOption(`a requirement waits for succeeded, failed or finished, not "${when}"`)
  return when
}
