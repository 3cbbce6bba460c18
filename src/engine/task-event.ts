import type { TaskId, TaskState } from './task.ts'

/**
 * The number of an event in the line of all events, as a decimal string. It is given after the commit, without gaps, and
 * never changes: a subscriber that has seen one has seen all before it. `0` stands before the first. To read from, there
 * is also `oldest`: whatever is kept.
 */
export type EventPosition = string

/** Something that happened to a task, or what an application told with `publish`. */
export type TaskEvent = {
  readonly id: EventPosition
  readonly at: Date
  /** What happened, in the past tense, as in the task's history; names of applications contain a dot. */
  readonly name: string
  /** Null: an application's event that is about no task. */
  readonly task: TaskId | null
  readonly scope: string
  readonly key: string | null
  /** Null: a milestone. */
  readonly kind: string | null
  readonly queue: string | null
  /** The state before and the state after; null where the state did not change. */
  readonly from: TaskState | null
  readonly to: TaskState | null
  readonly cause: string | null
  /** The task that brought it about. */
  readonly culprit: TaskId | null
  /** The person or program that brought it about. */
  readonly actor: string | null
  /** The dispatcher that claimed or finished it. */
  readonly dispatcher: number | null
  /** The error of an attempt, the time a task is delayed to, or whatever an application gave. */
  readonly detail: unknown
}

/** Which events: those that meet everything that is given. */
export type EventFilter = {
  readonly scope?: string
  /** Events of all scopes that begin so, as `archive:`. */
  readonly scopePrefix?: string
  readonly task?: TaskId
  readonly names?: readonly string[]
}

export type ReadEventsOptions = {
  /** The last event that is known already. */
  readonly after: EventPosition
  /** At most this many. Default: 1000. */
  readonly limit?: number
  readonly filter?: EventFilter
}

export type EventPage = {
  readonly events: readonly TaskEvent[]
  /** To be given as `after` next time. With a filter it moves on even when nothing was found. */
  readonly next: EventPosition
  /** Whether there is more to be read just now. */
  readonly hasMore: boolean
}

/** What a subscriber is given: its next call comes only once this one has been answered. */
export type EventBatch = {
  readonly events: readonly TaskEvent[]
  /** Everything up to here has been told: to be given as `after` when subscribing again. */
  readonly position: EventPosition
  /**
   * The position asked for is older than what is kept, or of another database: events were missed. `events` is empty;
   * read the present state anew, what follows comes after `position`.
   */
  readonly isReset: boolean
}

export type SubscribeOptions = {
  /** The last event that is known already. Default: begin with what happens from now on. */
  readonly after?: EventPosition
  readonly filter?: EventFilter
  /** Told of what `onEvents` threw; the batch is given again. Default: it is given again silently. */
  readonly onError?: (error: Error) => void
}

export type Subscription = {
  /** Everything up to here has been told, or does not meet the filter. */
  readonly position: EventPosition
  /** Ends it: `onEvents` is not called again. */
  unsubscribe(): void
}

/** What an application tells the subscribers, in a transaction of its own. */
export type ApplicationEvent = {
  /** Two or more words with dots between: `revision.planned`. */
  readonly name: string
  readonly scope: string
  readonly task?: TaskId
  readonly cause?: string
  readonly actor?: string
  /** Anything that JSON can hold. */
  readonly detail?: unknown
}
