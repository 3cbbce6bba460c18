import { expect, test } from 'vitest'
import { aWorker, deferred, useEngine } from '../../test/engine.ts'
import { waitFor } from '../../test/processes.ts'
import { register } from './dispatchers.sql.ts'
import { step } from './step.ts'
import type { AnyWorker } from './worker.ts'

const engine = useEngine()

/** A holder whose claims are fair. */
async function aHolder(...workers: AnyWorker[]) {
  const { rows } = await engine.pool.query<{ id: number }>(
    'select id from millrace.lane where kind = any($1) order by id',
    [workers.map(({ kind }) => kind)],
  )
  const lanes = rows.map(({ id }) => id)
  const of = { name: 'fair', lease_seconds: 60, lanes, host: 'h', facts: '{}', before: null }
  const { id: holder } = await register(engine.pool, of)
  const claim = async (limit: number, done: readonly { id: string; epoch: number }[] = []) => {
    const { tasks } = await step(engine.pool, {
      holder,
      ids: done.map(({ id }) => id),
      epochs: done.map(({ epoch }) => epoch),
      outputs: null,
      unchanged: [],
      lanes,
      from_priority: lanes.map(() => -(2 ** 31)),
      from_order: lanes.map(() => '0'),
      limit,
      idle: null,
      is_fair: true,
    })
    return tasks
  }
  return { holder, claim, end: () => engine.expire(holder) }
}

const add = (worker: AnyWorker, scope: string, count: number, more: object = {}) =>
  engine.millrace.addMany(Array.from({ length: count }, (_, payload) => ({ worker, payload, scope, ...more })))

const scopes = (tasks: readonly { scope: string }[]) => tasks.map(({ scope }) => scope)

test('one claim shares its places among scopes, whichever was ready first', async () => {
  const worker = aWorker()
  await add(worker, 'A', 10)
  await add(worker, 'B', 1)
  const { claim, end } = await aHolder(worker)
  expect(scopes(await claim(3))).toEqual(['A', 'A', 'B'])
  await end()
  await engine.drain(worker)
})

test('a free place goes to the scope with the fewest running, not to the next task of a chain', async () => {
  const worker = aWorker()
  const first = await add(worker, 'A', 3)
  await engine.add(worker, { scope: 'A', requires: [first[0]?.id as string] })
  const { claim, end } = await aHolder(worker)
  const running = await claim(3)
  expect(scopes(running)).toEqual(['A', 'A', 'A'])
  await add(worker, 'B', 2)
  const next = await claim(1, running.slice(0, 1))
  expect(scopes(next)).toEqual(['B'])
  // One of A and one of B run by now: the second of B was ready before the next of the chain.
  expect(scopes(await claim(1, running.slice(1, 2)))).toEqual(['B'])
  expect(scopes(await claim(2))).toEqual(['A'])
  await end()
  await engine.drain(worker)
})

test('a more urgent task comes first, whatever its scope runs', async () => {
  const worker = aWorker()
  await add(worker, 'A', 3)
  const { claim, end } = await aHolder(worker)
  await claim(2)
  await add(worker, 'B', 1)
  await add(worker, 'A', 1, { priority: -1 })
  expect(scopes(await claim(1))).toEqual(['A'])
  expect(scopes(await claim(1))).toEqual(['B'])
  await end()
  await engine.drain(worker)
})

test('a task that another transaction has locked leaves its place to the next one', async () => {
  const worker = aWorker()
  const [locked] = await add(worker, 'A', 3)
  const { claim, end } = await aHolder(worker)
  const client = await engine.pool.connect()
  await client.query('begin')
  await client.query('select from millrace.live where id = $1 for update', [locked?.id])
  expect(await claim(3)).toHaveLength(2)
  await client.query('rollback')
  client.release()
  expect(await claim(3)).toHaveLength(1)
  await end()
  await engine.drain(worker)
})

test('a dispatcher whose lease ran out claims nothing', async () => {
  const worker = aWorker()
  await add(worker, 'A', 1)
  const { claim, end } = await aHolder(worker)
  await end()
  expect(await claim(1)).toEqual([])
  await engine.drain(worker)
})

test('a full line of one scope does not keep a task of another kind from its place', async () => {
  const [many, one] = [aWorker(), aWorker()]
  const added = await add(many, 'A', 2100)
  added.push(...(await add(one, 'B', 1)))
  const { claim, end } = await aHolder(many, one)
  expect(scopes(await claim(2))).toEqual(['A', 'B'])
  await end()
  await engine.millrace.cancel(added.map(({ id }) => id))
})

test('a fair dispatcher claims no more than it has places for', async () => {
  const gate = deferred()
  const worker = aWorker({ work: () => gate.promise })
  await add(worker, 'A', 20)
  const dispatcher = await engine.dispatch([worker], { concurrency: 3, fair: true, prefetch: 100 })
  await waitFor(async () => {
    const { rows } = await engine.pool.query<{ n: number }>(
      `select count(*)::int as n from millrace.live where holder = $1 and state = 'running'`,
      [dispatcher.id],
    )
    expect(rows[0]?.n).toBeLessThanOrEqual(3)
    return rows[0]?.n === 3 ? true : undefined
  })
  gate.resolve()
  await dispatcher.idle()
})
