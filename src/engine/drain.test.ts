import { expect, test } from 'vitest'
import { z } from 'zod'
import { anything, aWorker, useEngine } from '../../test/engine.ts'
import { drain, performNext, work } from './drain.ts'
import { InvalidOption, InvalidPayload } from './errors.ts'
import { PermanentError, TransientError } from './work-error.ts'
import { defineWorker, isLater, later } from './worker.ts'

const engine = useEngine()

test('performing the next task answers what came of it', async () => {
  const worker = aWorker({ work: ({ payload }) => ({ double: payload.n * 2 }) })
  const id = await engine.add(worker, {}, { n: 21 })
  expect(await performNext(engine.millrace, [worker])).toEqual({
    id,
    kind: worker.kind,
    outcome: 'succeeded',
    state: 'succeeded',
    error: null,
    output: { double: 42 },
  })
  expect(await performNext(engine.millrace, [worker])).toBeUndefined()
})

test('performing the next task answers its error, and the state it went to', async () => {
  const worker = aWorker({
    work() {
      throw new TransientError('busy', { retryAfterSeconds: 60 })
    },
  })
  await engine.add(worker)
  expect(await performNext(engine.millrace, [worker])).toMatchObject({
    outcome: 'retry',
    state: 'delayed',
    error: { category: 'transient', name: 'TransientError', message: 'busy' },
  })
})

test('of tasks that become ready at once, those that were added first are performed first', async () => {
  const gate = aWorker()
  const ran: number[] = []
  const worker = aWorker({ work: ({ payload }) => void ran.push(payload.n) })
  const first = await engine.add(gate)
  for (let n = 1; n <= 20; n += 1) await engine.add(worker, { requires: [first] }, { n })
  await drain(engine.millrace, [gate, worker])
  expect(ran).toEqual(Array.from({ length: 20 }, (_, i) => i + 1))
})

test('draining performs what callbacks add meanwhile, until nothing is ready', async () => {
  const child = aWorker()
  const parent = aWorker({
    async onSuccess(tx) {
      await tx.addMany([
        { worker: child, payload: 1 },
        { worker: child, payload: 2 },
      ])
    },
  })
  await engine.add(parent)
  const { performed, counts } = await drain(engine.millrace, [parent, child])
  expect(performed.map(({ kind }) => kind)).toEqual([parent.kind, child.kind, child.kind])
  expect(counts).toEqual({ succeeded: 3, failed: 0, canceled: 0, retry: 0, later: 0, dropped: 0 })
})

test('draining leaves delayed tasks alone unless it is told to include them', async () => {
  const worker = aWorker()
  const id = await engine.add(worker, { delaySeconds: 3600 })
  expect((await drain(engine.millrace, [worker])).performed).toEqual([])
  expect((await drain(engine.millrace, [worker], { includeDelayed: true })).performed).toMatchObject([{ id }])
})

test('draining with delays included goes through all attempts of a task', async () => {
  const worker = aWorker({
    maxAttempts: 3,
    work() {
      throw new TransientError('busy')
    },
  })
  await engine.add(worker)
  const { performed } = await drain(engine.millrace, [worker], { includeDelayed: true })
  expect(performed.map(({ outcome }) => outcome)).toEqual(['retry', 'retry', 'failed'])
})

test('draining takes tasks only from the queues it is given', async () => {
  const worker = aWorker()
  await engine.add(worker, { queue: 'aside' })
  expect((await drain(engine.millrace, [worker])).performed).toEqual([])
  expect((await drain(engine.millrace, [worker], { queues: ['aside'] })).performed).toHaveLength(1)
})

test('draining stops at its limit', async () => {
  const worker = aWorker()
  await engine.millrace.addMany([1, 2, 3].map((payload) => ({ worker, payload })))
  expect((await drain(engine.millrace, [worker], { limit: 2 })).performed).toHaveLength(2)
  expect((await drain(engine.millrace, [worker])).performed).toHaveLength(1)
})

test('draining hands on what a worker logs', async () => {
  const worker = aWorker({ work: ({ log }) => log('half way', { percent: 50 }) })
  const id = await engine.add(worker)
  const entries: unknown[] = []
  await drain(engine.millrace, [worker], { onLog: (entry) => entries.push(entry) })
  expect(entries).toEqual([{ task: id, kind: worker.kind, message: 'half way', fields: { percent: 50 } }])
})

test('draining leaves no dispatcher behind that could be waited for', async () => {
  const worker = aWorker()
  await engine.add(worker)
  await drain(engine.millrace, [worker])
  const { rows } = await engine.pool.query('select from millrace.dispatcher where expires_at > clock_timestamp()')
  expect(rows).toEqual([])
})

test('the work function alone runs without a database, on the payload as the schema gives it', async () => {
  const fetchPage = defineWorker({
    kind: 'drain.fetch',
    payload: z.object({ url: z.url(), tries: z.number().default(3) }),
    async work({ payload, task, signal, log }) {
      log('fetching', { url: payload.url })
      if (signal.aborted) throw new PermanentError('stopped')
      return payload.tries > 3
        ? later({ delaySeconds: 5 })
        : { host: new URL(payload.url).host, failures: task.failures }
    },
  })
  const lines: string[] = []
  const result = await work(
    fetchPage,
    { url: 'https://example.org/a' },
    { failures: 2, onLog: (line) => lines.push(line) },
  )
  expect(result).toEqual({ host: 'example.org', failures: 2 })
  expect(lines).toEqual(['fetching'])
  expect(isLater(await work(fetchPage, { url: 'https://example.org/a', tries: 4 }))).toBe(true)
  await expect(work(fetchPage, { url: 'nowhere' })).rejects.toThrow(InvalidPayload)
  await expect(work(fetchPage, { url: 'https://a.org' }, { signal: AbortSignal.abort() })).rejects.toThrow('stopped')
})

test('the work function of a worker that returns at once is awaited too', async () => {
  const worker = defineWorker({ kind: 'drain.sync', payload: anything, work: () => 7 })
  expect(await work(worker, undefined)).toBe(7)
})

test('queues that are none are refused', async () => {
  await expect(drain(engine.millrace, [aWorker()], { queues: [] })).rejects.toThrow(InvalidOption)
})
