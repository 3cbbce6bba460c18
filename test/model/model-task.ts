import type { Condition, TaskState } from '../../src/engine/index.ts'

export type ModelTask = {
  readonly isMilestone: boolean
  priority: number
  readonly maxAttempts: number
  readonly cancels: readonly number[]
  state: TaskState
  /** The earliest time to start lies ahead. */
  isEarly: boolean
  holder: number | null
  epoch: number
  failures: number
  deaths: number
  isBegun: boolean
  isCanceling: boolean
  cancelBy: number | null
  isRerun: boolean
  culprit: number | null
  /** Running tasks it has told to stop and whose end it waits for. */
  readonly awaits: Set<number>
  /** How often it has ended, in which states. */
  readonly endings: TaskState[]
}

export type NewTask = {
  readonly isMilestone: boolean
  readonly priority: number
  readonly maxAttempts: number
  readonly requires: readonly { readonly task: number; readonly when: Condition }[]
  readonly cancels: readonly number[]
  readonly isHeld: boolean
  readonly isEarly: boolean
}

export type Lease = { readonly task: number; readonly holder: number; readonly epoch: number }

export class Refused extends Error {}

export const TERMINAL: readonly TaskState[] = ['succeeded', 'failed', 'canceled', 'skipped']
export const IDLE: readonly TaskState[] = ['waiting', 'delayed', 'ready']

/** A task as it is before anything has happened to it. */
export function freshTask(item: NewTask): ModelTask {
  const { isMilestone, priority, maxAttempts, cancels, isEarly } = item
  return {
    isMilestone,
    priority,
    maxAttempts,
    cancels,
    isEarly,
    state: item.isHeld ? 'held' : 'waiting',
    holder: null,
    epoch: 0,
    failures: 0,
    deaths: 0,
    isBegun: false,
    isCanceling: false,
    cancelBy: null,
    isRerun: false,
    culprit: null,
    awaits: new Set(),
    endings: [],
  }
}
