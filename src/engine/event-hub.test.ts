import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { aWorker, deferred, useEngine } from '../../test/engine.ts'
import { waitFor } from '../../test/processes.ts'
import { createPool, type Pool } from '../db/index.ts'
import { EventHub } from './event-hub.ts'
import { keepOutbox, newestPosition, publish, readEvents, sequence } from './outbox.ts'
import type { EventBatch, SubscribeOptions, Subscription } from './task-event.ts'

const engine = useEngine()
let pool: Pool
let hub: EventHub

beforeAll(() => {
  pool = createPool({ databaseUrl: engine.databaseUrl, max: 4, onError: () => {} })
})
afterEach(() => hub.close())
afterAll(() => pool.end())

/** A subscriber that keeps what it is told. */
async function listener(options: SubscribeOptions = {}, onBatch: (batch: EventBatch) => unknown = () => {}) {
  const batches: EventBatch[] = []
  const subscription: Subscription = await hub.subscribe(options, async (batch) => {
    await onBatch(batch)
    batches.push(batch)
  })
  const details = () => batches.flatMap((batch) => batch.events.map((event) => event.detail))
  return {
    batches,
    subscription,
    details,
    ids: () => batches.flatMap((batch) => batch.events.map((event) => Number(event.id))),
    until: (count: number) => waitFor(() => (details().length >= count ? true : undefined)),
  }
}

const tell = (detail: unknown, scope = 'hub') => publish(engine.pool, { name: 'test.told', scope, detail })
const tellMany = async (from: number, to: number) => {
  for (let i = from; i < to; i += 1) await tell(i)
}
const counted = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => from + i)

test('every subscriber is told everything once and in order, wherever it begins', async () => {
  hub = new EventHub(pool)
  const start = await sequence(pool)
  await tellMany(0, 20)
  const late = await listener()
  const replaying = await listener({ after: start })
  await tellMany(20, 60)
  const middle = await listener({ after: String(Number(start) + 5) })
  await tellMany(60, 80)
  await Promise.all([late.until(60), replaying.until(80), middle.until(75)])
  expect(late.details()).toEqual(counted(20, 80))
  expect(replaying.details()).toEqual(counted(0, 80))
  expect(middle.details()).toEqual(counted(5, 80))
  expect(replaying.ids()).toEqual(counted(Number(start) + 1, Number(start) + 81))
})

test('a filter that cannot be met is refused, and holds up no other subscriber', async () => {
  hub = new EventHub(pool)
  const other = await listener()
  await tell('told')
  await other.until(1)
  for (const filter of [
    { task: 'My-Project@12:index' },
    { scope: 'a\u0000' },
    { scopePrefix: '\u0000' },
    { names: ['\u0000'] },
  ])
    await expect(hub.subscribe({ filter }, () => {})).rejects.toHaveProperty(
      'code',
      expect.stringMatching(/^(task_not_found|invalid_option)$/),
    )
  await tell('still told')
  await other.until(2)
  expect(other.details()).toEqual(['told', 'still told'])
})

test('a subscription goes on where another one ended', async () => {
  hub = new EventHub(pool)
  const first = await listener()
  await tellMany(0, 10)
  await first.until(10)
  first.subscription.unsubscribe()
  await tellMany(10, 20)
  const second = await listener({ after: first.subscription.position })
  await second.until(10)
  expect([...first.details(), ...second.details()]).toEqual(counted(0, 20))
})

test('a subscriber is told of nothing that it did not ask for, and new ones take nothing from it', async () => {
  hub = new EventHub(pool)
  const narrow = await listener({ filter: { scope: 'hub:one' } })
  await tell(0, 'hub:one')
  await narrow.until(1)
  const wide = await listener({ filter: { scopePrefix: 'hub:' } })
  const none = await listener({ filter: { names: ['test.never'] } })
  for (let i = 1; i < 40; i += 1) await tell(i, i % 2 === 0 ? 'hub:one' : 'hub:two')
  await Promise.all([narrow.until(20), wide.until(39)])
  expect(narrow.details()).toEqual(counted(0, 40).filter((i) => i % 2 === 0))
  expect(wide.details()).toEqual(counted(1, 40))
  const newest = await newestPosition(pool)
  await waitFor(() => (none.subscription.position === newest ? true : undefined))
  expect(none.batches).toEqual([])
})

test('a subscriber that replays is not given what the hub has read for others', async () => {
  hub = new EventHub(pool)
  const narrow = await listener({ filter: { scope: 'hub:never' } })
  const start = narrow.subscription.position
  const worker = aWorker()
  const added = await engine.millrace.addMany(Array.from({ length: 1500 }, () => ({ worker, payload: {} })))
  const newest = await sequence(pool)
  await waitFor(() => (narrow.subscription.position === newest ? true : undefined))
  const wide = await listener({ after: start })
  await wide.until(3000)
  expect(wide.ids()).toEqual(counted(Number(start) + 1, Number(newest) + 1))
  await engine.millrace.cancel(added.map((task) => task.id))
})

test('a slow subscriber holds nobody up, and misses nothing of what the hub has forgotten meanwhile', async () => {
  hub = new EventHub(pool)
  const gate = deferred()
  const slow = await listener({}, () => gate.promise)
  const quick = await listener()
  await tell('first')
  await quick.until(1)
  const worker = aWorker()
  const added = await engine.millrace.addMany(Array.from({ length: 4000 }, () => ({ worker, payload: {} })))
  await quick.until(8001)
  expect(slow.batches).toEqual([])
  gate.resolve()
  await slow.until(8001)
  expect(slow.ids()).toEqual(quick.ids())
  await engine.millrace.cancel(added.map((task) => task.id))
})

test('what a subscriber could not take is given again', async () => {
  hub = new EventHub(pool)
  const errors: string[] = []
  let failures = 2
  const subscriber = await listener({ onError: (error) => errors.push(error.message) }, () => {
    if (failures-- > 0) throw new Error('not now')
  })
  await tellMany(0, 3)
  await subscriber.until(3)
  expect(subscriber.details()).toEqual([0, 1, 2])
  expect(errors).toEqual(['not now', 'not now'])
})

test('who asks for what is not kept any more is told to begin anew, and goes on from there', async () => {
  hub = new EventHub(pool)
  const start = await sequence(pool)
  await tellMany(0, 3)
  await sequence(pool)
  await tell('kept')
  await sequence(pool)
  await keepOutbox(pool, { seconds: 0 })
  const subscriber = await listener({ after: start })
  await waitFor(() => (subscriber.batches.length > 0 ? true : undefined))
  expect(subscriber.batches).toEqual([{ events: [], position: await newestPosition(pool), isReset: true }])
  await tell('after')
  await subscriber.until(1)
  expect(subscriber.details()).toEqual(['after'])
})

test('a position of another database is reset', async () => {
  hub = new EventHub(pool)
  const subscriber = await listener({ after: '900000000000000000' })
  await waitFor(() => subscriber.batches[0]?.isReset || undefined)
  await tell('after')
  await subscriber.until(1)
  expect(subscriber.details()).toEqual(['after'])
})

test('subscribers are told to begin anew when an older state of the database takes its place', async () => {
  hub = new EventHub(pool)
  await tellMany(0, 3)
  const subscriber = await listener()
  await tell(3)
  await subscriber.until(1)
  // At once: what has lost its page alone would be given another one, in the same place.
  await engine.pool.query(`
    with gone as (
      delete from millrace.outbox_page where first > (select min(first) from millrace.outbox_page) returning ids
    )
    delete from millrace.outbox where id in (select unnest(ids) from gone)`)
  await waitFor(() => subscriber.batches.at(-1)?.isReset || undefined)
  await tell('anew')
  await subscriber.until(2)
  expect(subscriber.details()).toEqual([3, 'anew'])
})

test('broken connections lose and double nothing', async () => {
  hub = new EventHub(pool)
  const subscriber = await listener()
  for (let round = 0; round < 10; round += 1) {
    await tellMany(round * 10, round * 10 + 10)
    await engine.pool.query(
      `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`,
    )
    await waitFor(() => engine.pool.query('select').catch(() => undefined))
  }
  await subscriber.until(100)
  expect(subscriber.details()).toEqual(counted(0, 100))
})

test('without subscribers nothing is asked', async () => {
  hub = new EventHub(pool)
  const subscriber = await listener()
  await tell(0)
  await subscriber.until(1)
  subscriber.subscription.unsubscribe()
  let asked = 0
  const count = () => {
    asked += 1
  }
  pool.on('acquire', count)
  // A look that was under way ends.
  await waitFor(async () => {
    const before = asked
    await sleep(50)
    return asked === before && pool.idleCount === pool.totalCount ? true : undefined
  })
  asked = 0
  hub.nudge()
  await sleep(250)
  pool.off('acquire', count)
  expect(asked).toBe(0)
})

test('a hub that was closed looks no more and tells nobody', async () => {
  hub = new EventHub(pool)
  const subscriber = await listener()
  await tell(0)
  hub.nudge()
  await subscriber.until(1)
  await hub.close()
  await tell(1)
  hub.nudge()
  const { events } = await readEvents(pool, { after: subscriber.subscription.position })
  expect(events).toEqual([])
  expect(subscriber.details()).toEqual([0])
})

test('the library follows what a dispatcher does', async () => {
  hub = new EventHub(pool)
  const worker = aWorker()
  const seen: string[] = []
  const done = deferred()
  const subscription = await engine.millrace.subscribe({ filter: { names: ['claimed', 'succeeded'] } }, (batch) => {
    for (const event of batch.events) seen.push(event.name)
    if (seen.length >= 20) done.resolve()
  })
  await engine.dispatch([worker])
  await engine.millrace.addMany(Array.from({ length: 10 }, () => ({ worker, payload: {} })))
  await done.promise
  subscription.unsubscribe()
  expect(seen.filter((name) => name === 'succeeded').length).toBe(10)
})
