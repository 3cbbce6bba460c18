// What a person or an application does to tasks by hand. Each verb is one call of the engine in the database; a task
// whose state does not allow it is refused by name, and then none of the given tasks is touched.
import { type Db, MANY_MS, type Pool, transaction } from '../db/index.ts'
import { toEdges, toTaskId } from './add.ts'
import { checkPriority } from './add-options.ts'
import { StateRefused, translated, UnfinishedWork } from './errors.ts'
import { read, type TaskRef } from './read.ts'
import { countUnfinished, findSucceeded } from './reads.sql.ts'
import { isTerminal, type TaskId } from './task.ts'
import {
  cancelTasks,
  holdTasks,
  lockUnstarted,
  prioritizeTasks,
  releaseTasks,
  retryTasks,
  rewireTask,
  skipTasks,
  succeedTask,
} from './tasks.sql.ts'
import { checkText } from './text.ts'
import type { Requirement } from './worker.ts'

export type ActOptions = {
  /** Why, for the record. */
  readonly cause?: string
  /** Who, for the record. */
  readonly actor?: string
  /** A `pg` client in a transaction of the caller's. */
  readonly client?: Db
}

export type EndOptions = ActOptions & {
  /** Tasks that are over are left as they are. Default: they are a reason to refuse. */
  readonly ignoreEnded?: boolean
}

type Refs = TaskRef | readonly TaskRef[]

/** Cancels: what does not run ends at once; what runs is asked to stop, and is canceled once it has. */
export function cancel(pool: Pool, refs: Refs, options?: EndOptions): Promise<void> {
  return act(pool, refs, options, {
    participle: 'canceled',
    verb: async (db, ids, record) => (await cancelTasks(db, { ids, ...record })).map((row) => row.id),
  })
}

/** Asks again for what failed, was canceled or skipped, and revives what was skipped because of it. */
export function retry(pool: Pool, refs: Refs, options?: ActOptions): Promise<void> {
  return act(pool, refs, options, {
    participle: 'retried',
    verb: async (db, ids, record) => (await retryTasks(db, { ids, name: 'retried', ...record })).ids,
  })
}

/** Runs again what succeeded; what depends on it runs again after it, unless its worker answers "unchanged". */
export function rerun(pool: Pool, refs: Refs, options?: ActOptions): Promise<void> {
  return act(pool, refs, options, {
    participle: 'run again',
    verb: async (db, ids, record) => (await retryTasks(db, { ids, name: 'rerun', ...record })).ids,
  })
}

/** Stops tasks that have not started from starting. */
export function hold(pool: Pool, refs: Refs, options?: ActOptions): Promise<void> {
  return act(pool, refs, options, {
    participle: 'held',
    verb: async (db, ids, record) => (await holdTasks(db, { ids, ...record })).ids,
  })
}

/** Lets held tasks go on. */
export function release(pool: Pool, refs: Refs, options?: ActOptions): Promise<void> {
  return act(pool, refs, options, {
    participle: 'released',
    verb: async (db, ids, record) => (await releaseTasks(db, { ids, ...record })).ids,
  })
}

/** Gives tasks that have not started another priority; lower comes first. */
export async function prioritize(pool: Pool, refs: Refs, priority: number, options?: ActOptions): Promise<void> {
  checkPriority(priority)
  return act(pool, refs, options, {
    participle: 'given another priority',
    verb: async (db, ids, record) => (await prioritizeTasks(db, { ids, priority, ...record })).ids,
  })
}

/** Skips tasks that do not run: they, and what depends on their success, will not. */
export function skip(pool: Pool, refs: Refs, options?: EndOptions): Promise<void> {
  return act(pool, refs, options, {
    participle: 'skipped',
    verb: async (db, ids, record) => (await skipTasks(db, { ids, ...record })).ids,
  })
}

/** Marks a task that does not run as succeeded by hand, and revives what was skipped because of it. */
export function succeed(pool: Pool, refs: Refs, options?: ActOptions): Promise<void> {
  return act(pool, refs, options, {
    participle: 'marked as succeeded',
    verb: async (db, ids, record) => {
      const done: TaskId[] = []
      for (const id of ids) if ((await succeedTask(db, { id, ...record })).done) done.push(id)
      return done
    },
  })
}

/** Gives a task that has not started other requirements instead of those it has. */
export function rewire(
  pool: Pool,
  ref: TaskRef,
  requires: readonly Requirement[],
  options?: ActOptions,
): Promise<void> {
  return act(pool, ref, options, {
    participle: 'given other requirements',
    verb: async (db, [id = ''], record) => {
      const { is_done } = await rewireTask(db, { ...toEdges(requires), dependent: id, ...record })
      return is_done ? [id] : []
    },
  })
}

/** Keeps tasks from starting until the transaction of `db` ends. Answers those of them that wait for their start. */
export async function keepFromStarting(db: Db, ids: readonly TaskId[]): Promise<TaskId[]> {
  return (await lockUnstarted(db, { ids: ids.map(toTaskId) })).map((row) => row.id)
}

export type RerunAllOptions = ActOptions & { readonly createdAfter?: Date; readonly createdBefore?: Date }

/** Runs everything of a kind again that has succeeded. Refused while any of it is unfinished. Answers how many. */
export async function rerunAll(pool: Pool, kind: string, options: RerunAllOptions = {}): Promise<number> {
  return within(pool, options, async (db) => {
    const { count } = await countUnfinished(db, { kind })
    if (count > 0) throw new UnfinishedWork(kind, count)
    const found = await findSucceeded(db, {
      kind,
      after: options.createdAfter ?? null,
      before: options.createdBefore ?? null,
    })
    if (found.length === 0) return 0
    const { ids } = await retryTasks(db, { ids: found.map((row) => row.id), name: 'rerun', ...recordOf(options) })
    return ids.length
  })
}

type Record = { cause: string | null; actor: string | null }
type Action = {
  /** As in "the task cannot be …". */
  readonly participle: string
  /** Answers the ids it took. */
  readonly verb: (db: Db, ids: TaskId[], record: Record) => Promise<readonly TaskId[]>
}

async function act(pool: Pool, refs: Refs, options: EndOptions | undefined, action: Action): Promise<void> {
  const list = Array.isArray(refs) ? (refs as readonly TaskRef[]) : [refs as TaskRef]
  if (list.length === 0) return
  await within(pool, options ?? {}, async (db) => {
    const ids: TaskId[] = []
    for (const ref of list) ids.push(typeof ref === 'string' ? toTaskId(ref) : (await read(db, ref)).id)
    const taken = new Set(await translated(() => action.verb(db, ids, recordOf(options ?? {}))))
    for (const refused of ids.filter((id) => !taken.has(id))) {
      const { state } = await read(db, refused)
      if (options?.ignoreEnded && isTerminal(state)) continue
      throw new StateRefused(refused, state, `task ${refused} is ${state} and cannot be ${action.participle}`)
    }
  })
}

function recordOf({ cause, actor }: ActOptions): Record {
  checkText('cause', cause)
  checkText('actor', actor)
  return { cause: cause ?? null, actor: actor ?? null }
}

/** In the caller's transaction when there is one; else in one of our own, so that a refusal undoes the rest. */
function within<T>(pool: Pool, options: ActOptions, body: (db: Db) => Promise<T>): Promise<T> {
  if (options.client !== undefined) return body(options.client)
  // A task may take any number of others along.
  return transaction(pool, body, { statementMs: MANY_MS })
}
