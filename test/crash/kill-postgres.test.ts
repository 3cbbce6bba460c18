import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { createPool, migrate, type Pool } from '../../src/db/index.ts'
import type { Millrace } from '../../src/engine/index.ts'
import { type Cluster, durableCluster } from './cluster.ts'
import { expectExactlyOnce, kill, lookAt, randomGraph, startDispatcher, untilFinished } from './kit.ts'
import { CRASH_TABLES } from './workers.ts'

const LEASE_SECONDS = 2

/** Adds tasks one after the other until told to stop, and answers the ids of those whose `add` resolved. */
function keepAdding(millrace: Millrace): () => Promise<string[]> {
  const acknowledged: string[] = []
  let isOver = false
  const adding = (async () => {
    while (!isOver) {
      const added = await millrace.addMany(randomGraph(5)).catch(() => undefined)
      acknowledged.push(...(added ?? []).map((task) => task.id))
      await sleep(added === undefined ? 20 : 5)
    }
  })()
  return async () => {
    isOver = true
    await adding
    return acknowledged
  }
}

async function underLoad(breakIt: (cluster: Cluster, pool: Pool) => Promise<void>): Promise<void> {
  await using cluster = await durableCluster()
  const pool = createPool({ databaseUrl: cluster.databaseUrl })
  await migrate(pool)
  await pool.query(CRASH_TABLES)
  const millrace = await lookAt(cluster.databaseUrl)
  const options = { leaseSeconds: LEASE_SECONDS, concurrency: 8, maxDeaths: 1000 }
  const dispatchers = await Promise.all([1, 2].map(() => startDispatcher(cluster.databaseUrl, options)))
  const stopAdding = keepAdding(millrace)
  await breakIt(cluster, pool)
  const acknowledged = await stopAdding()
  await untilFinished(pool)
  for (const dispatcher of dispatchers) {
    expect(dispatcher.stdout()).not.toMatch(/^error/m)
    expect(dispatcher.stderr()).toBe('')
    expect(dispatcher.child.exitCode).toBeNull()
    dispatcher.child.kill('SIGTERM')
    expect(await dispatcher.exitCode).toBe(0)
  }
  expect(acknowledged.length).toBeGreaterThan(100)
  const { rows } = await pool.query(
    'select id from unnest($1::bigint[]) as added(id) where not exists (select from millrace.task where task.id = added.id)',
    [acknowledged],
  )
  expect(rows).toEqual([])
  await expectExactlyOnce(pool)
  await Promise.all([millrace.close(), pool.end(), ...dispatchers.map((dispatcher) => kill(dispatcher))])
}

const CONNECTIONS = `datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend'`

test('a server killed with all its backends loses nothing that was acknowledged, and doubles nothing', () =>
  underLoad(async (cluster) => {
    for (let round = 0; round < 6; round += 1) {
      await sleep(300 + Math.random() * 700)
      await cluster.crash()
      await sleep(Math.random() * 300)
      await cluster.start()
    }
  }))

test('a server that restarts, politely or not, stops no dispatcher', () =>
  underLoad(async (cluster) => {
    for (const mode of ['fast', 'immediate', 'fast', 'immediate'] as const) {
      await sleep(300 + Math.random() * 500)
      await cluster.stop(mode)
      await sleep(Math.random() * 300)
      await cluster.start()
    }
  }))

test('backends that are ended one by one under load lose and double nothing', () =>
  underLoad(async (_cluster, pool) => {
    for (let round = 0; round < 40; round += 1) {
      await sleep(100)
      await pool.query(
        `select pg_terminate_backend(pid) from pg_stat_activity where ${CONNECTIONS} order by random() limit 2`,
      )
    }
  }))
