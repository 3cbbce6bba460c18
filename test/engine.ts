import { afterAll, afterEach, beforeAll, expect } from 'vitest'
import { type Pool, transaction } from '../src/db/index.ts'
import { type Drained, drain } from '../src/engine/drain.ts'
import {
  type AddedTask,
  type AddOptions,
  type AnyWorker,
  connect,
  type Dispatcher,
  type DispatchOptions,
  defineWorker,
  type Millrace,
  type MillraceError,
  PermanentError,
  type Task,
  type TaskId,
  type TaskState,
} from '../src/engine/index.ts'
import { ManualDispatcher, type ManualOptions, type Performed } from '../src/engine/manual-dispatcher.ts'
import { database, type TestDatabase } from './database.ts'

/** A schema that takes anything. */
// biome-ignore lint/suspicious/noExplicitAny: payloads of tests have any shape
export const anything: { '~standard': any } = {
  '~standard': { version: 1, vendor: 'test', validate: (value: unknown) => ({ value }) },
}

/** A promise and the functions that settle it. */
export function deferred<T = void>() {
  let resolve!: (value: T) => void
  let reject!: (error: unknown) => void
  const promise = new Promise<T>((yes, no) => {
    resolve = yes
    reject = no
  })
  return { promise, resolve, reject }
}

let kinds = 0

/** A worker of a kind of its own, so that the tests of one file do not meet. It succeeds unless told otherwise. */
export function aWorker(of: Partial<AnyWorker> = {}): AnyWorker {
  kinds += 1
  return defineWorker({ kind: `test.${kinds}`, payload: anything, work: () => undefined, ...of } as AnyWorker)
}

/** A worker whose tasks fail while their payload is in `broken`. */
export function mendable() {
  const broken = new Set<unknown>()
  const ran: unknown[] = []
  const worker: AnyWorker = aWorker({
    work({ payload }) {
      ran.push(payload)
      if (broken.has(payload)) throw new PermanentError(`${payload} is broken`)
      return payload
    },
  })
  return { worker, broken, ran }
}

/** A worker that throws what it is told to. */
export const throwing = (error: () => unknown, of: Partial<AnyWorker> = {}) =>
  aWorker({
    work() {
      throw error()
    },
    ...of,
  })

export type TestEngine = {
  readonly millrace: Millrace
  readonly pool: Pool
  readonly databaseUrl: string
  /** Adds a task of the worker; answers its id. */
  add(worker: AnyWorker, options?: AddOptions, payload?: unknown): Promise<TaskId>
  states(...ids: TaskId[]): Promise<TaskState[]>
  /** Requirements that the tasks have not met yet. */
  unmet(...ids: TaskId[]): Promise<number[]>
  drain(...workers: AnyWorker[]): Promise<Drained>
  /** Adds one task of the worker and performs it; answers what came of it. */
  readonly performOne: (worker: AnyWorker) => Promise<Performed & { task: Task }>
  /** A dispatcher that claims and performs when told to. */
  byHand(workers: readonly AnyWorker[], options?: ManualOptions): Promise<ManualDispatcher>
  /** A running dispatcher; stopped when the test is over. */
  dispatch(workers: readonly AnyWorker[], options?: DispatchOptions): Promise<Dispatcher>
  /** Lets the dispatcher's lease run out and its tasks go to others. */
  expire(holder: number, maxDeaths?: number): Promise<void>
  /** The same, as if another attempt at this task had begun and been handed back since: it is not resumed. */
  takeAway(id: TaskId, holder: number): Promise<void>
  /** Names of a task's history, in order. */
  story(id: TaskId): Promise<string[]>
  /** How many rows each table of the graph has, and what its gates let in. */
  rows(): Promise<Record<string, number>>
}

const TABLES = ['task', 'live', 'done', 'attempt', 'event', 'edge', 'supersede', 'effect']

/**
 * An engine on a database of the test file's own. After every test the engine looks for broken promises, and no
 * dispatcher may be left.
 */
export function useEngine(): TestEngine {
  let db: TestDatabase
  let millrace: Millrace
  const started: Dispatcher[] = []

  beforeAll(async () => {
    db = await database()
    millrace = await connect({ databaseUrl: db.databaseUrl })
  })
  afterEach(async () => {
    await Promise.all(started.splice(0).map((dispatcher) => dispatcher.stop()))
    expect(await millrace.verify()).toEqual([])
  })
  afterAll(async () => {
    await millrace.close()
    await db[Symbol.asyncDispose]()
  })

  return {
    get millrace() {
      return millrace
    },
    get pool() {
      return db.pool
    },
    get databaseUrl() {
      return db.databaseUrl
    },
    add: async (worker, options = {}, payload = {}): Promise<AddedTask['id']> =>
      (await millrace.add(worker, payload, options)).id,
    states: (...ids) => Promise.all(ids.map(async (id) => (await millrace.task(id)).state)),
    unmet: (...ids) => Promise.all(ids.map(async (id) => (await millrace.task(id)).unmet)),
    drain: (...workers) => drain(millrace, workers),
    async performOne(worker) {
      const { id } = await millrace.add(worker, {})
      const [performed] = (await drain(millrace, [worker], { limit: 1 })).performed
      expect(performed?.id).toBe(id)
      return { ...(performed as Performed), task: await millrace.task(id) }
    },
    byHand: (workers, options) => ManualDispatcher.register(millrace, workers, options),
    async dispatch(workers, options = {}) {
      const dispatcher = millrace.dispatch(workers, options)
      started.push(dispatcher)
      await dispatcher.started
      return dispatcher
    },
    async expire(holder, maxDeaths = 5) {
      await db.pool.query(
        `update millrace.dispatcher set expires_at = clock_timestamp() - interval '1 s' where id = $1`,
        [holder],
      )
      await db.pool.query('select millrace.expire($1)', [maxDeaths])
    },
    takeAway: (id, holder) =>
      transaction(db.pool, async (tx) => {
        await tx.query(`update millrace.dispatcher set expires_at = clock_timestamp() - interval '1 s' where id = $1`, [
          holder,
        ])
        await tx.query('select millrace.expire()')
        await tx.query('update millrace.live set epoch = epoch + 1, lost_by = null where id = $1', [id])
      }),
    story: async (id) => (await millrace.history(id)).map((entry) => entry.name),
    async rows() {
      const counts = TABLES.map((table) => `(select count(*)::int from millrace.${table}) as ${table}`)
      counts.push('(select sum(capacity)::int from millrace.gate) as capacity')
      const { rows } = await db.pool.query(`select ${counts.join(', ')}`)
      return rows[0] as Record<string, number>
    },
  }
}

/** A class of refusals. */
export type Refusal = new (...args: never[]) => MillraceError

/** Sees to it that the call is refused with the class and leaves no row behind. */
export async function expectRefusal(
  engine: TestEngine,
  call: () => Promise<unknown>,
  of: Refusal,
): Promise<MillraceError> {
  const before = await engine.rows()
  const error = await call().then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  expect(error).toBeInstanceOf(of)
  expect(await engine.rows()).toEqual(before)
  return error as MillraceError
}
