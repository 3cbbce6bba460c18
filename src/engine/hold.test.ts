import { describe, expect, test } from 'vitest'
import { aWorker, useEngine } from '../../test/engine.ts'
import { StateRefused } from './errors.ts'
import { PermanentError } from './work-error.ts'

const engine = useEngine()

const failing = () =>
  aWorker({
    work() {
      throw new PermanentError('no')
    },
  })

test('a held task is never claimed, and released it is', async () => {
  const worker = aWorker()
  const id = await engine.add(worker)
  await engine.millrace.hold(id, { actor: 'ada', cause: 'wait for the review' })
  expect(await engine.millrace.task(id)).toMatchObject({ state: 'held', heldBy: 'ada' })
  expect((await engine.drain(worker)).performed).toEqual([])
  await engine.millrace.release(id)
  expect(await engine.millrace.task(id)).toMatchObject({ state: 'ready', heldBy: null })
  expect((await engine.drain(worker)).performed).toHaveLength(1)
})

test('a task can be added held', async () => {
  const worker = aWorker()
  const id = await engine.add(worker, { heldBy: 'the queue' })
  expect(await engine.millrace.task(id)).toMatchObject({ state: 'held', heldBy: 'the queue' })
  await engine.millrace.release(id)
  expect(await engine.states(id)).toEqual(['ready'])
})

describe('a task that is held and released', () => {
  test('while it waits goes on waiting', async () => {
    const [worker, other] = [aWorker(), aWorker()]
    const id = await engine.add(worker, { requires: [await engine.add(other)] })
    await engine.millrace.hold(id)
    await engine.millrace.release(id)
    expect(await engine.states(id)).toEqual(['waiting'])
    await engine.drain(other)
    expect(await engine.states(id)).toEqual(['ready'])
  })

  test('after its requirements were met meanwhile is ready', async () => {
    const [worker, other] = [aWorker(), aWorker()]
    const id = await engine.add(worker, { requires: [await engine.add(other)] })
    await engine.millrace.hold(id)
    await engine.drain(other)
    expect(await engine.states(id)).toEqual(['held'])
    expect(await engine.unmet(id)).toEqual([0])
    await engine.millrace.release(id)
    expect(await engine.states(id)).toEqual(['ready'])
  })

  test('while it is delayed is delayed until the same time', async () => {
    const notBefore = new Date('2199-01-01T00:00:00Z')
    const id = await engine.add(aWorker(), { notBefore })
    await engine.millrace.hold(id)
    await engine.millrace.release(id)
    expect(await engine.millrace.task(id)).toMatchObject({ state: 'delayed', notBefore })
  })

  test('while a requirement failed is skipped at its release, and what depends on it', async () => {
    const other = failing()
    const culprit = await engine.add(other)
    const id = await engine.add(aWorker(), { requires: [culprit] })
    const below = await engine.add(aWorker(), { requires: [id] })
    await engine.millrace.hold(id)
    await engine.drain(other)
    expect(await engine.states(id, below)).toEqual(['held', 'waiting'])
    await engine.millrace.release(id)
    expect(await engine.states(id, below)).toEqual(['skipped', 'skipped'])
    expect((await engine.millrace.task(id)).culprit).toBe(culprit)
  })

  test('while a requirement failed and was retried goes on waiting', async () => {
    let isBroken = true
    const other = aWorker({
      work() {
        if (isBroken) throw new PermanentError('no')
      },
    })
    const culprit = await engine.add(other)
    const id = await engine.add(aWorker(), { requires: [culprit] })
    await engine.millrace.hold(id)
    await engine.drain(other)
    isBroken = false
    await engine.millrace.retry(culprit)
    await engine.millrace.release(id)
    expect(await engine.states(id)).toEqual(['waiting'])
    await engine.drain(other)
    expect(await engine.states(id)).toEqual(['ready'])
  })

  test('while a requirement was run again waits for that', async () => {
    const other = aWorker()
    const required = await engine.add(other)
    const id = await engine.add(aWorker(), { requires: [required] })
    await engine.drain(other)
    await engine.millrace.hold(id)
    await engine.millrace.rerun(required)
    await engine.millrace.release(id)
    expect(await engine.states(id)).toEqual(['waiting'])
    await engine.drain(other)
    expect(await engine.states(id)).toEqual(['ready'])
  })

  test('goes to the end of the line', async () => {
    const worker = aWorker()
    const ids = [await engine.add(worker), await engine.add(worker)]
    await engine.millrace.hold(ids[0] as string)
    await engine.millrace.release(ids[0] as string)
    const { performed } = await engine.drain(worker)
    expect(performed.map(({ id }) => id)).toEqual([ids[1], ids[0]])
  })
})

test('holding is refused for what runs, is held or has ended; releasing for what is not held', async () => {
  const worker = aWorker()
  const id = await engine.add(worker)
  await expect(engine.millrace.release(id)).rejects.toThrow(StateRefused)
  await engine.millrace.hold(id)
  await expect(engine.millrace.hold(id)).rejects.toThrow(StateRefused)
  await engine.millrace.release(id)
  const dispatcher = await engine.byHand([worker])
  const [run] = await dispatcher.claim()
  const error = await engine.millrace.hold(id).catch((thrown: unknown) => thrown)
  expect(error).toMatchObject({ code: 'state_refused', task: id, state: 'running' })
  if (run) await dispatcher.perform(run)
  await expect(engine.millrace.hold(id)).rejects.toThrow(StateRefused)
})

test('one refusal among several holds none of them', async () => {
  const worker = aWorker()
  const done = await engine.add(worker)
  await engine.drain(worker)
  const id = await engine.add(worker)
  await expect(engine.millrace.hold([id, done])).rejects.toThrow(StateRefused)
  expect(await engine.states(id)).toEqual(['ready'])
})
