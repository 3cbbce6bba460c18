export type { ActOptions, EndOptions, RerunAllOptions } from './act.ts'
export type { BulkOptions, BulkResult, BulkVerb } from './act-on-many.ts'
export type { AddedTask } from './add.ts'
export type { AddItem, AddOptions, CancelRef, ItemRef } from './add-options.ts'
export { type Attention, severities } from './attention.ts'
export { countTasks, type TaskCount } from './count.ts'
export type { Dispatcher, DispatchOptions } from './dispatch-options.ts'
export {
  AmbiguousTask,
  CountDiffers,
  CursorMismatch,
  CycleRefused,
  InvalidOption,
  InvalidPayload,
  InvalidQuery,
  IsolationRefused,
  KeyConflict,
  KindDiffers,
  LeaseLost,
  MillraceError,
  PositionGone,
  SchemaRefused,
  StateRefused,
  TaskNotFound,
  TooManyTasks,
  UnfinishedWork,
  UnknownKind,
  WorkerNotFound,
} from './errors.ts'
export { EventHub } from './event-hub.ts'
export type { Wanted } from './lease-keeper.ts'
export { type ListOptions, listTasks, type TaskFilter, type TaskList, type TaskSummary } from './list.ts'
export { type DispatcherSummary, listDispatchers } from './list-dispatchers.ts'
export type { Line } from './list-lines.ts'
export type { Look } from './look.ts'
export { type ConnectOptions, connect, Millrace } from './millrace.ts'
export {
  keepOutbox,
  newestPosition,
  type OutboxRetention,
  oldestPosition,
  publish,
  readEvents,
  sequence,
} from './outbox.ts'
export { isStorable } from './output.ts'
export { type Pattern, parseQuery, type Query } from './parse-query.ts'
export type { PruneOptions } from './prune.ts'
export type { Attempt, HistoryEntry, Neighbour, Task, TaskOf, TaskRef } from './read.ts'
export { nameOfTask, resolveTask } from './resolve.ts'
export { type StopReason, WorkStopped } from './run.ts'
export type { InputOf, OutputOf, Schema } from './schema.ts'
export type { Json, Stored } from './stored.ts'
export { type Condition, isTerminal, type Lease, type TaskId, type TaskState, taskStates } from './task.ts'
export type {
  ApplicationEvent,
  EventBatch,
  EventFilter,
  EventPage,
  EventPosition,
  ReadEventsOptions,
  SubscribeOptions,
  Subscription,
  TaskEvent,
} from './task-event.ts'
export type { Percentiles, Throughput, ThroughputBucket } from './throughput.ts'
export type { Span, SpanKind, Timeline, TimelineTask } from './timeline.ts'
export type { Typical } from './typical.ts'
export type { Why } from './why.ts'
export { AdvisoryError, PermanentError, TransientError, WorkError, type WorkErrorOptions } from './work-error.ts'
export {
  type AnyWorker,
  type Backoff,
  defineWorker,
  type ErrorCategory,
  type Failure,
  isLater,
  type Later,
  type LaterOptions,
  type Log,
  later,
  type PayloadInput,
  type Requirement,
  type ResultOf,
  type Tx,
  type Unchanged,
  unchanged,
  type WorkContext,
  type WorkedTask,
  type Worker,
} from './worker.ts'
