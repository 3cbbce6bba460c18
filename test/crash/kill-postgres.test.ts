import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { createPool, migrate, type Pool } from '../../src/db/index.ts'
import type { Millrace } from '../../src/engine/index.ts'
import { inForm } from '../long-form.ts'
import { waitFor } from '../processes.ts'
import { type Cluster, durableCluster } from './cluster.ts'
import { expectExactlyOnce, kill, lookAt, randomGraph, startDispatcher, untilFinished } from './kit.ts'
import { CRASH_TABLES } from './workers.ts'

const LEASE_SECONDS = 2
const ROUNDS = inForm(2, 6)
const MORE = 30 // tasks that are added between two blows, however long that takes

type Adding = {
  /** Resolves when so many more were acknowledged. */
  more(count: number): Promise<void>
  /** The ids of all whose `add` resolved. */
  stop(): Promise<string[]>
}

/** Adds tasks one after the other until told to stop. */
function keepAdding(millrace: Millrace): Adding {
  const acknowledged: string[] = []
  let isOver = false
  const adding = (async () => {
    while (!isOver) {
      const added = await millrace.addMany(randomGraph(5)).catch(() => undefined)
      acknowledged.push(...(added ?? []).map((task) => task.id))
      await sleep(added === undefined ? 20 : 5)
    }
  })()
  return {
    async more(count) {
      const enough = acknowledged.length + count
      await waitFor(() => (acknowledged.length >= enough ? true : undefined))
    },
    async stop() {
      isOver = true
      await adding
      return acknowledged
    },
  }
}

type Load = { readonly cluster: Cluster; readonly pool: Pool; readonly adding: Adding }

async function underLoad(breakIt: (load: Load) => Promise<void>): Promise<void> {
  await using cluster = await durableCluster()
  const pool = createPool({ databaseUrl: cluster.databaseUrl })
  await migrate(pool)
  await pool.query(CRASH_TABLES)
  const millrace = await lookAt(cluster.databaseUrl)
  const options = { leaseSeconds: LEASE_SECONDS, concurrency: 8, maxDeaths: 1000 }
  const dispatchers = await Promise.all([1, 2].map(() => startDispatcher(cluster.databaseUrl, options)))
  const adding = keepAdding(millrace)
  await breakIt({ cluster, pool, adding })
  const acknowledged = await adding.stop()
  await untilFinished(pool)
  for (const dispatcher of dispatchers) {
    expect(dispatcher.stdout()).not.toMatch(/^error/m)
    expect(dispatcher.stderr()).toBe('')
    expect(dispatcher.child.exitCode).toBeNull()
    dispatcher.child.kill('SIGTERM')
    expect(await dispatcher.exitCode).toBe(0)
  }
  expect(acknowledged.length).toBeGreaterThanOrEqual(inForm(2, 4) * MORE)
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
  underLoad(async ({ cluster, adding }) => {
    for (let round = 0; round < ROUNDS; round += 1) {
      await adding.more(MORE)
      await sleep(Math.random() * 500)
      await cluster.crash()
      await sleep(Math.random() * 300)
      await cluster.start()
    }
  }))

test('a server that restarts, politely or not, stops no dispatcher', () =>
  underLoad(async ({ cluster, adding }) => {
    for (const mode of inForm(['fast', 'immediate'] as const, ['fast', 'immediate', 'fast', 'immediate'] as const)) {
      await adding.more(MORE)
      await sleep(Math.random() * 500)
      await cluster.stop(mode)
      await sleep(Math.random() * 300)
      await cluster.start()
    }
  }))

test('backends that are ended one by one under load lose and double nothing', () =>
  underLoad(async ({ pool, adding }) => {
    for (let round = 0; round < inForm(12, 40); round += 1) {
      await adding.more(5)
      await pool.query(
        `select pg_terminate_backend(pid) from pg_stat_activity where ${CONNECTIONS} order by random() limit 2`,
      )
    }
  }))
