import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { createPool, migrate } from '../../src/db/index.ts'
import { waitFor } from '../processes.ts'
import { durableCluster } from './cluster.ts'
import {
  type Bench,
  bench,
  count,
  expectExactlyOnce,
  lookAt,
  startDispatcher,
  untilFinished,
  untilState,
} from './kit.ts'
import { CRASH_TABLES } from './workers.ts'

// The longest pause between two looks of a dispatcher that hears notifications, and of one that does not.
const LONGEST_POLL_SECONDS = 1
const AT_ONCE_SECONDS = 0.1

const LISTENERS = `pg_stat_activity where datname = current_database() and application_name = 'millrace listen'`

const isTrue = (look: () => Promise<boolean>) => waitFor(async () => ((await look()) ? true : undefined))

/** Seconds between becoming ready and being claimed, by the database's clock. */
async function waitedSeconds(at: Pick<Bench, 'millrace'>, id: string): Promise<number> {
  await untilState(at.millrace, id, 'succeeded')
  const { readyAt, startedAt } = await at.millrace.task(id)
  return ((startedAt as Date).getTime() - (readyAt as Date).getTime()) / 1000
}

/** The shortest of so many waits, or the first that was none: the machine may be busy. */
async function fastest(at: Pick<Bench, 'millrace' | 'pool'>, rounds: number): Promise<number> {
  let least = Number.POSITIVE_INFINITY
  for (let round = 0; round < rounds && least >= AT_ONCE_SECONDS; round += 1) {
    await isTrue(async () => (await count(at.pool, 'millrace.idle')) === 1)
    await new Promise((resolve) => setTimeout(resolve, 600)) // long enough for its polls to have become rare
    least = Math.min(least, await waitedSeconds(at, (await at.millrace.add('crash.hold', {})).id))
  }
  return least
}

test('a task added to an idle dispatcher does not wait for the next poll', async () => {
  await using at = await bench()
  await using _dispatcher = await startDispatcher(at.databaseUrl, {})
  expect(await fastest(at, 6)).toBeLessThan(AT_ONCE_SECONDS)
})

test('a listener whose session is ended listens again, and nothing is missed meanwhile', async () => {
  await using at = await bench()
  await using dispatcher = await startDispatcher(at.databaseUrl, {})
  for (let round = 0; round < 5; round += 1) {
    await isTrue(async () => (await count(at.pool, LISTENERS)) === 1)
    await at.pool.query(`select pg_terminate_backend(pid) from ${LISTENERS}`)
    await at.millrace.add('crash.hold', {})
    await untilFinished(at.pool)
  }
  await isTrue(async () => (await count(at.pool, LISTENERS)) === 1)
  expect(await fastest(at, 6)).toBeLessThan(AT_ONCE_SECONDS)
  expect(dispatcher.stdout()).not.toMatch(/^error/m)
  await expectExactlyOnce(at.pool)
})

test.each(['fast', 'immediate'] as const)(
  'an idle dispatcher hears again when the server comes back after seconds, stopped: %s',
  async (mode) => {
    await using cluster = await durableCluster()
    const pool = createPool({ databaseUrl: cluster.databaseUrl })
    await migrate(pool)
    await pool.query(CRASH_TABLES)
    const at = { pool, millrace: await lookAt(cluster.databaseUrl) }
    await using dispatcher = await startDispatcher(cluster.databaseUrl, {})
    await isTrue(async () => (await count(pool, 'millrace.idle')) === 1)
    await cluster.stop(mode)
    await sleep(4000) // its first attempts to connect come within a second, and fail
    await cluster.start()
    await isTrue(async () => (await count(pool, LISTENERS)) === 1)
    expect(await fastest(at, 6)).toBeLessThan(AT_ONCE_SECONDS)
    expect(dispatcher.stdout()).not.toMatch(/^error/m)
    expect(dispatcher.stderr()).toBe('')
    await expectExactlyOnce(pool)
    await Promise.all([at.millrace.close(), pool.end()])
  },
)

test('a task whose notification was never sent is found by polling', async () => {
  await using at = await bench()
  await using _dispatcher = await startDispatcher(at.databaseUrl, { leaseSeconds: 60 })
  for (let round = 0; round < 3; round += 1) {
    const client = await at.pool.connect()
    await isTrue(async () => (await count(at.pool, 'millrace.idle')) + round > 0)
    await client.query('begin')
    await client.query('delete from millrace.idle')
    const { id } = await at.millrace.add('crash.hold', {}, { client })
    await client.query('commit')
    client.release()
    expect(await waitedSeconds(at, id)).toBeLessThan(10 * LONGEST_POLL_SECONDS)
  }
})
