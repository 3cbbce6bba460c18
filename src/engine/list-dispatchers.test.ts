import { hostname } from 'node:os'
import { expect, test } from 'vitest'
import { aWorker, useEngine } from '../../test/engine.ts'

const engine = useEngine()

test('dispatchers are listed with what they take and how much they run', async () => {
  const worker = aWorker({ queue: 'heavy' })
  const dispatcher = await engine.byHand([worker], { name: 'ann', leaseSeconds: 60 })
  await engine.millrace.addMany([1, 2, 3].map((payload) => ({ worker, payload })))
  await dispatcher.claim(2)
  const [listed, ...others] = await engine.millrace.dispatchers()
  expect(others).toEqual([])
  expect(listed).toMatchObject({
    id: dispatcher.id,
    name: 'ann',
    host: hostname(),
    leaseSeconds: 60,
    isAlive: true,
    running: 2,
    queues: ['heavy'],
    kinds: [worker.kind],
  })
  expect(Number(listed?.lastSeenAt) - Number(listed?.startedAt)).toBeLessThan(10_000)
})

test('one that has died or stopped is listed only when all are asked for', async () => {
  const dispatcher = await engine.byHand([aWorker()], { name: 'bob' })
  await engine.expire(dispatcher.id)
  const names = async (all: boolean) => (await engine.millrace.dispatchers({ all })).map(({ name }) => name)
  expect(await names(false)).not.toContain('bob')
  expect(await names(true)).toContain('bob')
})
