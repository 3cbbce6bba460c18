// The short way of a step takes the next of a chain at once. It must not pass over what the long way would have found first.
import { expect, test } from 'vitest'
import { aWorker, useEngine } from '../../test/engine.ts'
import { register } from './dispatchers.sql.ts'
import { step } from './step.ts'
import { laneIds } from './tasks.sql.ts'
import type { AnyWorker } from './worker.ts'

const engine = useEngine()

/** Steps of a dispatcher that takes one task at a time, by id and epoch. */
async function stepper(worker: AnyWorker) {
  const { ids: lanes } = await laneIds(engine.pool, { queues: ['default'], kinds: [worker.kind] })
  const about = { name: 'hops', lease_seconds: 600, host: 'here', facts: '{}', before: null }
  const { id: holder } = await register(engine.pool, { ...about, lanes })
  return async (ended: readonly { id: string; epoch: number }[], limit = 1) => {
    const { tasks } = await step(engine.pool, {
      holder,
      ids: ended.map(({ id }) => id),
      epochs: ended.map(({ epoch }) => epoch),
      outputs: null,
      unchanged: [],
      lanes,
      from_priority: lanes.map(() => -(2 ** 31)),
      from_order: lanes.map(() => '0'),
      limit,
      idle: null,
    })
    return tasks
  }
}

test('the next of a chain is claimed with the end of the one before', async () => {
  const worker = aWorker()
  const take = await stepper(worker)
  const first = await engine.add(worker)
  const second = await engine.add(worker, { requires: [first] })
  const ended = await take([])
  expect(ended.map(({ id }) => id)).toEqual([first])
  expect(await take(ended)).toMatchObject([{ id: second, epoch: 1 }])
})

test('what is due comes before the next of a chain when it is more urgent', async () => {
  const worker = aWorker()
  const take = await stepper(worker)
  const first = await engine.add(worker)
  const second = await engine.add(worker, { requires: [first] })
  const ended = await take([])
  const due = await engine.add(worker, { priority: -1, delaySeconds: 3600 })
  await engine.pool.query('update millrace.live set not_before = now() where id = $1', [due])
  expect((await take(ended)).map(({ id }) => id)).toEqual([due])
  expect(await engine.states(second)).toEqual(['ready'])
})

test('what a consequence that could not be applied releases comes before the next of a chain when it is more urgent', async () => {
  const worker = aWorker()
  const take = await stepper(worker)
  const [other, first] = [await engine.add(worker), await engine.add(worker)]
  const second = await engine.add(worker, { requires: [first] })
  const urgent = await engine.add(worker, { requires: [other], priority: -1 })
  const [endedOther, endedFirst] = await take([], 2)
  const client = await engine.pool.connect()
  try {
    await client.query('begin')
    await client.query('select from millrace.live where id = $1 for update', [urgent])
    await take(endedOther ? [endedOther] : [], 0)
    await client.query('commit')
  } finally {
    client.release()
  }
  expect(await engine.states(urgent)).toEqual(['waiting'])
  expect((await take(endedFirst ? [endedFirst] : [])).map(({ id }) => id)).toEqual([urgent])
  expect(await engine.states(second)).toEqual(['ready'])
})

test('what is ready comes before the next of a chain', async () => {
  const worker = aWorker()
  const take = await stepper(worker)
  const first = await engine.add(worker)
  const second = await engine.add(worker, { requires: [first] })
  const ended = await take([])
  const ready = await engine.add(worker)
  expect((await take(ended)).map(({ id }) => id)).toEqual([ready])
  expect(await engine.states(second)).toEqual(['ready'])
})
