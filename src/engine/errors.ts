import { DatabaseUnusable } from '../db/index.ts'
import type { Lease, TaskId, TaskState } from './task.ts'

/** A wrong use of the engine, or a refusal by it, that the caller can act on. `code` is stable. */
export abstract class MillraceError extends Error {
  abstract readonly code: string
}

/** The caller's lease ran out or was taken away; whatever it did must be thrown away. */
export class LeaseLost extends MillraceError {
  readonly code = 'lease_lost'
  readonly lease: Lease
  constructor(lease: Lease) {
    super(`task ${lease.task} is no longer leased to dispatcher ${lease.holder}`)
    this.lease = lease
  }
}

/** No worker of that kind was ever defined: define it, or correct the name. */
export class UnknownKind extends MillraceError {
  readonly code = 'unknown_kind'
  readonly kind: string
  constructor(kind: string, known: readonly string[]) {
    super(`no worker is known for kind "${kind}"${known.length > 0 ? `; known are ${known.join(', ')}` : ''}`)
    this.kind = kind
  }
}

/** The payload does not fit the worker's schema. `issues` say where. */
export class InvalidPayload extends MillraceError {
  readonly code = 'invalid_payload'
  readonly issues: readonly { readonly path: string; readonly message: string }[]
  constructor(kind: string, where: string, issues: readonly { path: string; message: string }[]) {
    const list = issues.map((issue) => `${issue.path || '(payload)'}: ${issue.message}`).join('; ')
    super(`payload of kind "${kind}"${where} is refused: ${list}`)
    this.issues = issues
  }
}

/** The requirements would make a task wait for itself. `path` names the tasks of the cycle. */
export class CycleRefused extends MillraceError {
  readonly code = 'cycle'
  readonly path: readonly string[]
  constructor(path: readonly string[]) {
    super(`the requirements would close a cycle: ${path.join(' -> ')}`)
    this.path = path
  }
}

/** A task that was named does not exist. */
export class TaskNotFound extends MillraceError {
  readonly code = 'task_not_found'
  readonly task: TaskId
  constructor(task: TaskId) {
    super(`task ${task} does not exist`)
    this.task = task
  }
}

/** The task is of another kind than the worker it was read with. */
export class KindDiffers extends MillraceError {
  readonly code = 'kind_differs'
  readonly task: TaskId
  constructor(task: TaskId, kind: string | null, expected: string) {
    super(`task ${task} is ${kind === null ? 'a milestone' : `of kind "${kind}"`}, not of kind "${expected}"`)
    this.task = task
  }
}

/** A search finds another number of tasks than the caller believes; nothing was done. */
export class CountDiffers extends MillraceError {
  readonly code = 'count_differs'
  readonly remedy = 'look at the tasks again, and give the number that they are now'
  readonly count: number
  constructor(expected: number, count: number) {
    super(`${expected} tasks were expected and ${count} are there: nothing was done`)
    this.count = count
  }
}

/** A search finds more tasks than can be acted on at once, or takes too long; nothing was done. */
export class TooManyTasks extends MillraceError {
  readonly code = 'too_many_tasks'
  readonly remedy = 'make the search narrower'
  constructor(most: number) {
    super(`the search finds more than ${most} tasks, or takes too long: nothing was done`)
  }
}

/** No dispatcher of that number lives: it has stopped or died, or its lease was lost and it has another number. */
export class WorkerNotFound extends MillraceError {
  readonly code = 'worker_not_found'
  readonly remedy = '`millrace worker ls` lists those that live'
  constructor(id: number) {
    super(`no worker ${id} lives`)
  }
}

/** The key is taken in its scope by a task of another kind or payload. */
export class KeyConflict extends MillraceError {
  readonly code = 'key_conflict'
  readonly task: TaskId
  constructor(message: string, task: TaskId) {
    super(message)
    this.task = task
  }
}

/** The state of the task does not allow the action. */
export class StateRefused extends MillraceError {
  readonly code = 'state_refused'
  readonly task: TaskId
  readonly state: TaskState
  constructor(task: TaskId, state: TaskState, message: string) {
    super(message)
    this.task = task
    this.state = state
  }
}

/** Running a whole kind again was refused, because some of it is not finished. */
export class UnfinishedWork extends MillraceError {
  readonly code = 'unfinished_work'
  constructor(kind: string, count: number) {
    super(`${count} tasks of kind "${kind}" are not finished: wait for them or cancel them, then run the kind again`)
  }
}

/** Events after the position are not kept any more, or it is of another database: read the present state anew. */
export class PositionGone extends MillraceError {
  readonly code = 'position_gone'
  /** The oldest event that is kept. */
  readonly oldest: string
  /** The newest there is: what follows can be read after it. */
  readonly newest: string
  constructor(after: string, oldest: string, newest: string) {
    super(`events after ${after} cannot be told: kept are ${oldest} to ${newest}`)
    this.oldest = oldest
    this.newest = newest
  }
}

/**
 * A transaction is stricter than READ COMMITTED: a statement of the engine that waited for a lock would read the past. It is
 * the caller's own, or the default of the database or role, where a pooler keeps the engine from changing that.
 */
export class IsolationRefused extends MillraceError {
  readonly code = 'isolation_refused'
  readonly remedy: string
  constructor(message: string, remedy: string) {
    super(`${message}; ${remedy}`)
    this.remedy = remedy
  }
}

/** The database has no schema of Millrace, or that of another release. */
export class SchemaRefused extends MillraceError {
  readonly code: 'schema_missing' | 'schema_too_old' | 'schema_too_new' | 'schema_differs'
  readonly remedy: string
  constructor(code: SchemaRefused['code'], message: string, remedy: string) {
    super(`${message}; ${remedy}`)
    this.code = code
    this.remedy = remedy
  }
}

/** A search that cannot be understood. `position` counts characters from 0. */
export class InvalidQuery extends MillraceError {
  readonly code = 'invalid_query'
  readonly position: number
  readonly remedy: string | undefined
  constructor(position: number, message: string, remedy?: string) {
    super(`${message} (at character ${position + 1})`)
    this.position = position
    this.remedy = remedy
  }
}

/** The cursor was given for another list: begin that list without one. */
export class CursorMismatch extends MillraceError {
  readonly code = 'cursor_mismatch'
  constructor() {
    super('the cursor does not belong to a list with these filters')
  }
}

/** A name fits several tasks: use one of their ids. */
export class AmbiguousTask extends MillraceError {
  readonly code = 'ambiguous_task'
  readonly tasks: readonly TaskId[]
  constructor(name: string, tasks: readonly TaskId[]) {
    super(`"${name}" is the name of several tasks: ${tasks.join(', ')}`)
    this.tasks = tasks
  }
}

/** A setting or option that cannot be used. */
export class InvalidOption extends MillraceError {
  readonly code = 'invalid_option'
}

type DatabaseError = { code?: string; message?: string; detail?: string; hint?: string }

/** Turns a refusal raised by the engine's functions in the database into its class; others pass unchanged. */
export function translate(error: unknown): unknown {
  if (error instanceof DatabaseUnusable && error.code === 'isolation_refused')
    return new IsolationRefused(error.message, error.remedy)
  const { code, message = '', detail = '{}', hint = '' } = error as DatabaseError
  if (code === undefined || !code.startsWith('MR')) return error
  const facts = JSON.parse(detail) as { path?: string[]; task?: string; state?: TaskState }
  switch (code) {
    case 'MR001':
      return new CycleRefused(facts.path ?? [])
    case 'MR002':
      return new TaskNotFound(facts.task ?? '')
    case 'MR003':
      return new KeyConflict(message, facts.task ?? '')
    case 'MR005':
      return new IsolationRefused(message, hint)
    case 'MR004':
      return new StateRefused(facts.task ?? '', facts.state ?? 'running', message)
    default:
      return error
  }
}

/** Runs `body` and throws the engine's own classes for its refusals. */
export async function translated<T>(body: () => Promise<T>): Promise<T> {
  try {
    return await body()
  } catch (error) {
    throw translate(error)
  }
}
