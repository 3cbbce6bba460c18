import { expect, test } from 'vitest'
import { z } from 'zod'
import { aWorker, throwing, useEngine } from '../../test/engine.ts'
import { performNext } from './drain.ts'
import { AdvisoryError, backoffSeconds, PermanentError, TransientError } from './work-error.ts'

const engine = useEngine()
const { performOne } = engine

test('an unexpected exception fails the task, with one permanent error that has message and stack', async () => {
  const { id, task } = await performOne(throwing(() => new RangeError('out of bounds')))
  expect(task.state).toBe('failed')
  expect(await engine.millrace.attempts(id)).toMatchObject([
    {
      outcome: 'failed',
      error: {
        category: 'permanent',
        name: 'RangeError',
        message: 'out of bounds',
        stack: expect.stringContaining('work-error.test.ts'),
      },
    },
  ])
})

test.each([
  ['a string', 'just text', 'just text'],
  ['nothing', undefined, 'undefined'],
  ['an object', { code: 'E1' }, '[object Object]'],
  ['what has no text', Object.create(null), 'a value that cannot be written as text'],
])('%s that is thrown fails the task', async (_what, thrown, message) => {
  expect((await performOne(throwing(() => thrown))).error).toMatchObject({ category: 'permanent', message })
})

test('a permanent error fails the task at once', async () => {
  const { task, error } = await performOne(throwing(() => new PermanentError('no')))
  expect(task).toMatchObject({ state: 'failed', error: { category: 'permanent', message: 'no' } })
  expect(error?.name).toBe('PermanentError')
})

test('a transient error delays the task, with one error on record, and it runs again', async () => {
  let isBusy = true
  const worker = aWorker({
    backoff: { firstSeconds: 3600 },
    work() {
      if (isBusy) throw new TransientError('busy')
      return 'done'
    },
  })
  const { id, task } = await performOne(worker)
  expect(task).toMatchObject({ state: 'delayed', failures: 1 })
  expect(await engine.millrace.attempts(id)).toMatchObject([{ outcome: 'retry', error: { category: 'transient' } }])
  isBusy = false
  expect((await engine.drain(worker)).performed).toEqual([])
  await performNext(engine.millrace, [worker], { includeDelayed: true })
  expect(await engine.millrace.task(id)).toMatchObject({ state: 'succeeded', failures: 1, error: null })
})

test('a transient error with a delay of its own waits so long', async () => {
  const before = Date.now()
  const { task } = await performOne(throwing(() => new TransientError('busy', { retryAfterSeconds: 55_000 })))
  const seconds = ((task.notBefore as Date).getTime() - before) / 1000
  expect(Math.abs(seconds - 55_000)).toBeLessThan(1000)
})

test('a delay is for transient errors alone', async () => {
  for (const make of [
    () => new PermanentError('no', { retryAfterSeconds: 60 }),
    () => new AdvisoryError('hm', { retryAfterSeconds: 60 }),
  ]) {
    const { task } = await performOne(throwing(make))
    expect(task.notBefore).toBeNull()
    expect(['failed', 'succeeded']).toContain(task.state)
  }
})

test('transient errors back off exponentially, with jitter, up to a maximum', () => {
  const worker = aWorker({ backoff: { firstSeconds: 2, factor: 3, maxSeconds: 100 } })
  const error = new TransientError('busy')
  const longest = [0, 1, 2, 3, 4, 50].map((failures) => backoffSeconds(worker, error, failures, () => 1))
  const shortest = [0, 1, 2, 3, 4, 50].map((failures) => backoffSeconds(worker, error, failures, () => 0))
  expect(longest).toEqual([2, 6, 18, 54, 100, 100])
  expect(shortest).toEqual(longest.map((seconds) => seconds / 2))
})

test('attempts are bounded, and the errors of every one are kept', async () => {
  let n = 0
  const worker = aWorker({
    maxAttempts: 3,
    work() {
      n += 1
      throw new TransientError(`busy ${n}`, { retryAfterSeconds: 0 })
    },
  })
  const id = await engine.add(worker)
  await engine.drain(worker)
  expect(await engine.millrace.task(id)).toMatchObject({ state: 'failed', failures: 3, cause: 'no attempts left' })
  const attempts = await engine.millrace.attempts(id)
  expect(attempts.map(({ outcome, error }) => [outcome, (error as { message: string }).message])).toEqual([
    ['retry', 'busy 1'],
    ['retry', 'busy 2'],
    ['failed', 'busy 3'],
  ])
})

test('the number of attempts of the task goes before that of its worker', async () => {
  const worker = aWorker({
    maxAttempts: 9,
    work() {
      throw new TransientError('busy', { retryAfterSeconds: 0 })
    },
  })
  await engine.add(worker, { maxAttempts: 2 })
  expect((await engine.drain(worker)).performed).toHaveLength(2)
})

test('an advisory error is recorded and counts as success', async () => {
  const worker = throwing(() => new AdvisoryError('a little off'))
  const id = await engine.add(worker)
  const dependent = await engine.add(aWorker(), { requires: [id] })
  const { performed } = await engine.drain(worker)
  expect(performed).toMatchObject([{ outcome: 'succeeded', error: { category: 'advisory', message: 'a little off' } }])
  expect(await engine.states(id, dependent)).toEqual(['succeeded', 'ready'])
  expect(await engine.millrace.attempts(id)).toMatchObject([{ error: { category: 'advisory' } }])
})

test("the worker's word on an error goes before the error's own", async () => {
  const worker = throwing(() => new PermanentError('no'), { classify: () => 'transient', maxAttempts: 5 })
  expect(await performOne(worker)).toMatchObject({
    outcome: 'retry',
    error: { category: 'transient', name: 'PermanentError', message: 'no' },
  })
})

test("a worker that has no word on an error leaves it to the error, and then to the database's list", async () => {
  const classify = () => undefined
  expect(await performOne(throwing(() => new TransientError('busy'), { classify }))).toMatchObject({
    outcome: 'retry',
  })
  const deadlock = () => Object.assign(new Error('deadlock detected'), { code: '40P01' })
  expect(await performOne(throwing(deadlock, { classify }))).toMatchObject({ outcome: 'retry' })
  const refused = () => Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' })
  expect(await performOne(throwing(refused))).toMatchObject({ outcome: 'retry' })
  expect(await performOne(throwing(() => new Error('else'), { classify }))).toMatchObject({ outcome: 'failed' })
})

test('a classification that throws fails the task', async () => {
  const worker = throwing(() => new TransientError('busy'), {
    classify() {
      throw new Error('cannot tell')
    },
  })
  const { outcome, error } = await performOne(worker)
  expect(outcome).toBe('failed')
  expect(error?.message).toMatch(/cannot tell.*busy/)
})

test('a payload that its worker no longer takes fails the task, saying where', async () => {
  const worker = aWorker()
  const id = await engine.add(worker, {}, { n: 'text' })
  const stricter = { ...worker, payload: z.object({ n: z.number() }) }
  const dispatcher = await engine.byHand([worker])
  const [run] = await dispatcher.claim()
  if (run) await dispatcher.perform(Object.assign(run, { worker: stricter }))
  expect(await engine.millrace.task(id)).toMatchObject({
    state: 'failed',
    error: { message: expect.stringContaining('n: ') },
  })
})

test('NUL characters in an error are replaced', async () => {
  const { task } = await performOne(throwing(() => new Error('a\u0000b')))
  expect(task).toMatchObject({ state: 'failed', error: { message: 'a\uFFFDb' } })
})

test('half a surrogate pair in an error does not keep it from being recorded', async () => {
  const { task } = await performOne(throwing(() => new Error('a\ud800b')))
  expect(task).toMatchObject({ state: 'failed', error: { message: expect.stringMatching(/^a.*b$/u) } })
})

test.each([
  ['a NUL character', () => 'a\u0000b'],
  ['half a surrogate pair', () => ({ text: '\udfff' })],
  ['a circle', () => globalThis],
  ['a bigint', () => 1n],
])('a result with %s fails the task, with or without a callback', async (_what, work) => {
  expect(await performOne(aWorker({ work }))).toMatchObject({ outcome: 'failed' })
  expect(await performOne(aWorker({ work, onSuccess: () => undefined }))).toMatchObject({ outcome: 'failed' })
})

test('an enormous message is cut, and says so', async () => {
  const { task } = await performOne(throwing(() => new Error('x'.repeat(60_000))))
  expect((task.error as { message: string }).message).toMatch(/^x{50000} … \(10000 more characters\)$/)
})
