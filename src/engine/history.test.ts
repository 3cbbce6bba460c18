import { expect, test } from 'vitest'
import { aWorker, mendable, useEngine } from '../../test/engine.ts'
import { drain } from './drain.ts'
import { TransientError } from './work-error.ts'
import { later } from './worker.ts'

const engine = useEngine()

/** The history as lines: what happened, from which state to which. */
async function lines(id: string): Promise<string[]> {
  return (await engine.millrace.history(id)).map(({ name, from, to }) => `${name}: ${from ?? ''} → ${to ?? ''}`)
}

test('an ordinary life is told in order, with who ran it', async () => {
  const worker = aWorker()
  const id = await engine.add(worker, { actor: 'ada' })
  await engine.drain(worker)
  expect(await lines(id)).toEqual([
    'created:  → ',
    'readied: waiting → ready',
    'claimed: ready → running',
    'succeeded: running → succeeded',
  ])
  const [created, , claimed] = await engine.millrace.history(id)
  expect(created?.actor).toBe('ada')
  expect(claimed?.dispatcher?.name).toBe('testing')
})

test('times never go back', async () => {
  const { worker, broken } = mendable()
  broken.add('a')
  const id = await engine.add(worker, {}, 'a')
  await engine.drain(worker)
  await engine.millrace.retry(id)
  await engine.millrace.hold(id)
  await engine.millrace.release(id)
  await engine.drain(worker)
  const times = (await engine.millrace.history(id)).map(({ at }) => at.getTime())
  expect(times).toEqual([...times].sort((a, b) => a - b))
})

test('every attempt is told, with its outcome and error', async () => {
  let n = 0
  const worker = aWorker({
    work() {
      n += 1
      if (n === 1) throw new TransientError('busy', { retryAfterSeconds: 60 })
      if (n === 2) return later({ delaySeconds: 60 })
      return 'done'
    },
  })
  const id = await engine.add(worker)
  await drain(engine.millrace, [worker], { includeDelayed: true })
  expect(await lines(id)).toEqual([
    'created:  → ',
    'readied: waiting → ready',
    'claimed: ready → running',
    'retry: running → delayed',
    'readied: waiting → ready',
    'claimed: ready → running',
    'later: running → delayed',
    'readied: waiting → ready',
    'claimed: ready → running',
    'succeeded: running → succeeded',
  ])
  expect((await engine.millrace.history(id))[3]?.error).toMatchObject({ message: 'busy' })
})

test('a hold and a release name who and why', async () => {
  const id = await engine.add(aWorker())
  await engine.millrace.hold(id, { actor: 'ada', cause: 'review' })
  await engine.millrace.release(id, { actor: 'bob', cause: 'reviewed' })
  const history = await engine.millrace.history(id)
  expect(history.find(({ name }) => name === 'held')).toMatchObject({
    from: 'ready',
    to: 'held',
    actor: 'ada',
    cause: 'review',
  })
  expect(history.find(({ name }) => name === 'released')).toMatchObject({
    from: 'held',
    to: 'ready',
    actor: 'bob',
    cause: 'reviewed',
  })
})

test('a skip names its culprit, and a revival too', async () => {
  const { worker, broken } = mendable()
  broken.add('a')
  const a = await engine.add(worker, {}, 'a')
  const b = await engine.add(worker, { requires: [a] }, 'b')
  await engine.drain(worker)
  await engine.millrace.retry(a, { actor: 'ada', cause: 'mended' })
  const told = (await engine.millrace.history(b)).map(({ name, culprit }) => [name, culprit])
  expect(told).toEqual([
    ['created', null],
    ['skipped', a],
    ['revived', a],
  ])
  expect(await engine.millrace.history(a)).toContainEqual(
    expect.objectContaining({ name: 'retried', from: 'failed', to: 'waiting', actor: 'ada', cause: 'mended' }),
  )
})

test('a cancel of a running task is told when it was asked for and when it ended', async () => {
  const worker = aWorker()
  const id = await engine.add(worker)
  const dispatcher = await engine.byHand([worker])
  const [run] = await dispatcher.claim()
  await engine.millrace.cancel(id, { actor: 'ada', cause: 'enough' })
  if (run) await dispatcher.perform(run)
  expect((await lines(id)).slice(-2)).toEqual(['cancel_requested: running → running', 'canceled: running → canceled'])
  expect((await engine.millrace.history(id)).at(-1)).toMatchObject({ actor: 'ada', cause: 'enough' })
})

test('a supersession names the task that superseded', async () => {
  const worker = aWorker()
  const earlier = await engine.add(worker)
  const later = await engine.add(worker, { cancels: [earlier] })
  expect((await engine.millrace.history(earlier)).at(-1)).toMatchObject({ name: 'canceled', culprit: later })
})

test('a rerun keeps what was before it', async () => {
  const worker = aWorker()
  const a = await engine.add(worker)
  const b = await engine.add(worker, { requires: [a] })
  await engine.drain(worker)
  await engine.millrace.rerun(a, { actor: 'ada' })
  await engine.drain(worker)
  expect((await lines(b)).slice(1)).toEqual([
    'readied: waiting → ready',
    'claimed: ready → running',
    'succeeded: running → succeeded',
    'rerun: succeeded → waiting',
    'readied: waiting → ready',
    'claimed: ready → running',
    'succeeded: running → succeeded',
  ])
  expect(await engine.millrace.history(b)).toContainEqual(expect.objectContaining({ name: 'rerun', culprit: a }))
})

test('a requirement that came later, and one that was asked for again, are told', async () => {
  const worker = aWorker()
  const id = await engine.add(aWorker())
  const required = await engine.add(worker)
  await engine.millrace.require(id, [required])
  await engine.drain(worker)
  await engine.millrace.rerun(required)
  const blocked = (await engine.millrace.history(id)).filter(({ name }) => name === 'blocked')
  expect(blocked.map(({ cause }) => cause)).toEqual(['a requirement was added', 'a requirement was asked for again'])
})

test('the task that added another is in its history', async () => {
  const child = aWorker()
  const parent = aWorker({
    async onSuccess(tx) {
      await tx.add(child, 1, { key: 'history child' })
    },
  })
  const id = await engine.add(parent)
  await engine.drain(parent)
  const { id: added } = await engine.millrace.task({ scope: 'default', key: 'history child' })
  expect((await engine.millrace.history(added))[0]).toMatchObject({ name: 'created', culprit: id })
})

test('a refused verb leaves no trace', async () => {
  const worker = aWorker()
  const id = await engine.add(worker)
  await engine.drain(worker)
  const before = await lines(id)
  await expect(engine.millrace.hold(id)).rejects.toThrow()
  await expect(engine.millrace.cancel(id)).rejects.toThrow()
  expect(await lines(id)).toEqual(before)
})
