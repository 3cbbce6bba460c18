import { expect, test } from 'vitest'
import { aWorker, mendable, useEngine } from '../../test/engine.ts'
import { StateRefused } from './errors.ts'

const engine = useEngine()

test('a ready task is claimed in the order of its new priority', async () => {
  const order: unknown[] = []
  const worker = aWorker({ work: ({ task }) => void order.push(task.id) })
  const [first, second, third] = [await engine.add(worker), await engine.add(worker), await engine.add(worker)]
  await engine.millrace.prioritize(third, -1, { actor: 'ada', cause: 'it is urgent' })
  await engine.millrace.prioritize(first, 7)
  await engine.drain(worker)
  expect(order).toEqual([third, second, first])
})

test('a waiting, a delayed and a held task keep their state and get their place', async () => {
  const worker = aWorker()
  const first = await engine.add(worker)
  const waiting = await engine.add(worker, { requires: [first] })
  const delayed = await engine.add(worker, { delaySeconds: 3600 })
  const held = await engine.add(worker, { heldBy: 'ada' })
  await engine.millrace.prioritize([waiting, delayed, held], 5)
  for (const [id, state] of [
    [waiting, 'waiting'],
    [delayed, 'delayed'],
    [held, 'held'],
  ] as const) {
    expect(await engine.millrace.task(id)).toMatchObject({ state, priority: 5 })
  }
})

test('it is told, with who did it and what it was before', async () => {
  const id = await engine.add(aWorker(), { priority: 2 })
  const { next: after } = await engine.millrace.events({ after: 'oldest', limit: 1000 })
  await engine.millrace.prioritize(id, -3, { actor: 'ada', cause: 'it is urgent' })
  const told = { name: 'prioritized', from: null, to: null, actor: 'ada', cause: 'it is urgent' }
  expect((await engine.millrace.history(id)).at(-1)).toMatchObject(told)
  const { events } = await engine.millrace.events({ after, filter: { task: id } })
  expect(events).toMatchObject([{ ...told, task: id, detail: { from: 2, to: -3 } }])
})

test('a retry begins with the new priority', async () => {
  const { worker, broken } = mendable()
  broken.add('a')
  const id = await engine.add(worker, {}, 'a')
  await engine.millrace.prioritize(id, 9)
  await engine.drain(worker)
  await engine.millrace.retry(id)
  expect(await engine.millrace.task(id)).toMatchObject({ state: 'ready', priority: 9 })
})

test('what has ended is refused, and then nothing is changed', async () => {
  const worker = aWorker()
  const over = await engine.add(worker)
  await engine.drain(worker)
  const ready = await engine.add(worker)
  await expect(engine.millrace.prioritize([ready, over], 1)).rejects.toBeInstanceOf(StateRefused)
  expect(await engine.millrace.task(ready)).toMatchObject({ priority: 0 })
  await expect(engine.millrace.prioritize(ready, 1.5)).rejects.toMatchObject({ code: 'invalid_option' })
})
