import pg from 'pg'
import { z } from 'zod'
import {
  batches,
  type Contender,
  differences,
  drainClock,
  EDGE_WIDTH,
  type Filter,
  type Listing,
  payload,
  range,
  sampleLatency,
  singly,
  startSignal,
  sustainClock,
  timed,
} from './contender.ts'
import { tuned } from './tuning.ts'

// The part of the library that is driven here. It is spelled out, and the library loaded by its path, so that
// this file is checked and compiled before the library is built.
type TaskId = string
type Worker = { kind: string }
type Item = {
  worker?: Worker
  milestone?: true
  payload?: unknown
  requires?: (TaskId | { item: number })[]
}
type Millrace = {
  add(worker: Worker, payload: unknown): Promise<{ id: TaskId }>
  addMany(items: Item[]): Promise<{ id: TaskId }[]>
  dispatch(
    workers: Worker[],
    options: { concurrency: number; queues: string[]; leaseSeconds: number },
  ): { readonly started: Promise<void>; stop(): Promise<void> }
  list(options: Filter & { limit: number; cursor?: string }): Promise<{ next: string | null }>
  close(): Promise<void>
}
type Library = {
  connect(options: { databaseUrl: string; migrate: boolean }): Promise<Millrace>
  defineWorker(worker: {
    kind: string
    payload: unknown
    work(task: { payload: { n: number } }): Promise<unknown>
    onSuccess?(tx: { addMany(items: Item[]): Promise<unknown> }): Promise<unknown>
  }): Worker
}

// One set of options for every claim: a user cannot choose another dispatcher for each load.
const { bulk: BULK, ...DISPATCH } = tuned('millrace', {
  concurrency: 100,
  queues: ['default'],
  leaseSeconds: 30,
  bulk: 10_000,
})

const BUILT = new URL('../../../dist/index.js', import.meta.url).href

const shape = z.object({ n: z.number(), text: z.string() })

export async function millrace(url: string): Promise<Contender> {
  const library = (await import(process.env['MILLRACE_BENCH_LIBRARY'] ?? BUILT)) as Library
  const store = await library.connect({ databaseUrl: url, migrate: true })
  const pool = new pg.Pool({ connectionString: url, max: 2 })

  const define = (kind: string, handle: (n: number) => void) =>
    library.defineWorker({ kind, payload: shape, work: async (task) => handle(task.payload.n) })
  let handle: (n: number) => void = () => {}
  const noop = define('bench.noop', (n) => handle(n))

  const addBulk = async (count: number) => {
    for (const batch of batches(count, BULK)) {
      await store.addMany(batch.map((n) => ({ worker: noop, payload: payload(n) })))
    }
  }

  return {
    prepare: async () => {},
    enqueueBulk: (count) => timed(() => addBulk(count)),
    enqueueSingly: (count) => timed(() => singly(count, (n) => store.add(noop, payload(n)))),
    enqueueEdges: (count) => timed(() => addEdges(store, noop, count)),
    async drain(count) {
      const clock = drainClock(count)
      const older = await lastIdBefore(pool, count)
      handle = () => clock.handled()
      const dispatcher = store.dispatch([noop], DISPATCH)
      const ms = await clock.finished(() => nothingAfter(pool, older))
      await dispatcher.stop()
      return ms
    },
    async latency(samples) {
      const signal = startSignal()
      handle = signal.fire
      const dispatcher = store.dispatch([noop], DISPATCH)
      const times = await sampleLatency(samples, signal, (n) => store.add(noop, payload(n)))
      await dispatcher.stop()
      return times
    },
    chain: (length) => chain(store, define, length),
    fan: (width) => fan(library, store, width),
    declaredFan: (width) => declaredFan(store, define, width),
    requirements: (width) => requirements(store, define, width),
    async sustain(task) {
      const clock = sustainClock()
      handle = () => clock.handled()
      const dispatcher = store.dispatch([noop], DISPATCH)
      const rates = await clock.rates(task, addBulk)
      await dispatcher.stop()
      return rates
    },
    list: (task) => list(store, task),
    async close() {
      await store.close()
      await pool.end()
    },
  }
}

/** The id below which a preloaded store's own unfinished tasks lie; the newest `count` are those to drain. */
async function lastIdBefore(pool: pg.Pool, count: number): Promise<string> {
  const { rows } = await pool.query('select id from millrace.live order by id desc offset $1 limit 1', [count])
  return rows[0]?.id ?? '0'
}

async function nothingAfter(pool: pg.Pool, id: string): Promise<boolean> {
  // From the end of the index: a question for any would be answered by reading the table, all that waits in it.
  const { rows } = await pool.query('select coalesce(max(id), 0) <= $1 as empty from millrace.live', [id])
  return rows[0].empty
}

/** Task n waits for task n - EDGE_WIDTH: as many chains side by side, of which each is count / EDGE_WIDTH long. */
async function addEdges(store: Millrace, worker: Worker, count: number): Promise<void> {
  let before: { id: TaskId }[] = []
  for (const batch of batches(count, BULK)) {
    const tail = before.slice(-EDGE_WIDTH)
    before = await store.addMany(
      batch.map((n, index) => {
        const earlier = index >= EDGE_WIDTH ? { item: index - EDGE_WIDTH } : tail[index]?.id
        return { worker, payload: payload(n), requires: earlier === undefined ? [] : [earlier] }
      }),
    )
  }
}

async function chain(store: Millrace, define: Define, length: number): Promise<number[]> {
  const starts: number[] = []
  const done = startSignal()
  const ended = done.next()
  const step = define('bench.step', () => {
    starts.push(performance.now())
    if (starts.length === length) done.fire()
  })
  await store.addMany(
    range(length).map((n) => ({ worker: step, payload: payload(n), requires: n > 0 ? [{ item: n - 1 }] : [] })),
  )
  const dispatcher = store.dispatch([step], DISPATCH)
  await ended
  await dispatcher.stop()
  return differences(starts)
}

type Define = (kind: string, handle: (n: number) => void) => Worker

/** As the peers do it: the first task adds the rest. They are there with its success, and not before. */
async function fan(library: Library, store: Millrace, width: number): Promise<number> {
  const end = startSignal()
  const ended = end.next()
  const middle = library.defineWorker({ kind: 'bench.middle', payload: shape, work: async () => {} })
  const last = library.defineWorker({ kind: 'bench.last', payload: shape, work: async () => end.fire() })
  const first = library.defineWorker({
    kind: 'bench.first',
    payload: shape,
    work: async () => {},
    onSuccess: (tx) =>
      tx.addMany([
        ...range(width).map((n) => ({ worker: middle, payload: payload(n) })),
        { worker: last, payload: payload(0), requires: range(width).map((n) => ({ item: n })) },
      ]),
  })
  const dispatcher = store.dispatch([first, middle, last], DISPATCH)
  await dispatcher.started // as the others' workers are
  const from = performance.now()
  await store.add(first, payload(0))
  const ms = (await ended) - from
  await dispatcher.stop()
  return ms
}

async function declaredFan(store: Millrace, define: Define, width: number): Promise<number> {
  const end = startSignal()
  const ended = end.next()
  const first = define('bench.first', () => {})
  const middle = define('bench.middle', () => {})
  const last = define('bench.last', end.fire)
  const dispatcher = store.dispatch([first, middle, last], DISPATCH)
  await dispatcher.started // as the others' workers are
  const from = performance.now()
  await store.addMany([
    { worker: first, payload: payload(0) },
    ...range(width).map((n) => ({ worker: middle, payload: payload(n), requires: [{ item: 0 }] })),
    { worker: last, payload: payload(0), requires: range(width).map((n) => ({ item: n + 1 })) },
  ])
  const ms = (await ended) - from
  await dispatcher.stop()
  return ms
}

async function requirements(store: Millrace, define: Define, width: number): Promise<number> {
  const end = startSignal()
  const ended = end.next()
  let startedAt = 0
  const part = define('bench.part', () => {
    startedAt ||= performance.now()
  })
  const whole = define('bench.whole', end.fire)
  const ids: TaskId[] = []
  for (const batch of batches(width, BULK)) {
    const added = await store.addMany(batch.map((n) => ({ worker: part, payload: payload(n) })))
    ids.push(...added.map(({ id }) => id))
  }
  await store.addMany([{ worker: whole, payload: payload(0), requires: ids }])
  const dispatchers = range(2).map(() => store.dispatch([part, whole], DISPATCH))
  const ms = (await ended) - startedAt
  await Promise.all(dispatchers.map((dispatcher) => dispatcher.stop()))
  return ms
}

async function list(store: Millrace, { filters, samples }: Listing): Promise<Record<string, number[]>> {
  const times: Record<string, number[]> = {}
  for (const [name, filter] of Object.entries(filters)) {
    const taken: number[] = []
    times[name] = taken
    await store.list({ ...filter, limit: 50 })
    let cursor: string | null = null
    while (taken.length < samples) {
      const from = performance.now()
      const page = await store.list({ ...filter, limit: 50, ...(cursor === null ? {} : { cursor }) })
      taken.push(performance.now() - from)
      cursor = page.next
    }
  }
  return times
}
