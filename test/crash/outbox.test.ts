import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { createPool, migrate, type Pool } from '../../src/db/index.ts'
import { EventHub, newestPosition, sequence } from '../../src/engine/index.ts'
import { inForm } from '../long-form.ts'
import { checkTold } from '../model/told.ts'
import { waitFor } from '../processes.ts'
import { type Program, runProgram } from '../program.ts'
import { type Cluster, durableCluster } from './cluster.ts'
import { kill, lookAt, randomGraph, startDispatcher, untilFinished } from './kit.ts'
import type { Line } from './subscriber-program.ts'
import { CRASH_TABLES } from './workers.ts'

const OPTIONS = { leaseSeconds: 1, concurrency: 8, maxDeaths: 1000 }

type Scene = {
  readonly cluster: Cluster
  readonly pool: Pool
  /** Kills a dispatcher and starts another. */
  killDispatcher(): Promise<void>
}

const ROUNDS = inForm(2, 4)

/** Lets dispatchers work while `breakIt` breaks things, once in a round; everything has ended when it answers. */
async function underLoad(cluster: Cluster, pool: Pool, breakIt: (scene: Scene) => Promise<void>): Promise<void> {
  await migrate(pool)
  await pool.query(CRASH_TABLES)
  const millrace = await lookAt(cluster.databaseUrl)
  const dispatchers: Program[] = await Promise.all([1, 2].map(() => startDispatcher(cluster.databaseUrl, OPTIONS)))
  const killDispatcher = async () => {
    const victim = dispatchers.shift()
    if (victim !== undefined) await kill(victim)
    dispatchers.push(await startDispatcher(cluster.databaseUrl, OPTIONS))
  }
  for (let round = 0; round < ROUNDS; round += 1) {
    await millrace.addMany(randomGraph(80))
    // Whether it is added when the server is killed, it cannot know.
    const adding = millrace.addMany(randomGraph(40)).catch(() => {})
    await sleep(Math.random() * 300)
    await breakIt({ cluster, pool, killDispatcher })
    await adding
  }
  await untilFinished(pool)
  await Promise.all([millrace.close(), ...dispatchers.map((dispatcher) => kill(dispatcher))])
}

const consecutive = (count: number) => Array.from({ length: count }, (_, i) => String(i + 1))

test('subscribers are told everything once and in order while dispatchers and the server are killed', async () => {
  await using cluster = await durableCluster()
  const pool = createPool({ databaseUrl: cluster.databaseUrl })
  const pools = [1, 2].map(() => createPool({ databaseUrl: cluster.databaseUrl, max: 2 }))
  const hubs = pools.map((own) => new EventHub(own))
  const heard: string[][] = hubs.map(() => [])
  await migrate(pool)
  for (const [i, hub] of hubs.entries())
    await hub.subscribe({ after: 'oldest' }, async ({ events, isReset }) => {
      expect(isReset).toBe(false)
      heard[i]?.push(...events.map((event) => event.id))
      // One of them is slow.
      if (i === 1) await sleep(Math.random() * 30)
    })
  await underLoad(cluster, pool, async (scene) => {
    await scene.cluster.crash()
    await sleep(Math.random() * 200)
    await scene.cluster.start()
    await sleep(Math.random() * 300)
    await scene.killDispatcher()
  })
  const newest = Number(await sequence(pool))
  await waitFor(() => (heard.every((ids) => ids.length >= newest) ? true : undefined))
  for (const ids of heard) expect(ids).toEqual(consecutive(newest))
  await checkTold(pool)
  await Promise.all(hubs.map((hub) => hub.close()))
  await Promise.all([...pools, pool].map((own) => own.end()))
})

test('a subscriber that is killed goes on where it was, without a gap and without a double', async () => {
  await using cluster = await durableCluster()
  const pool = createPool({ databaseUrl: cluster.databaseUrl })
  const folder = await mkdtemp(join(tmpdir(), 'millrace-subscriber-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const file = join(folder, 'told')
  const start = async () => {
    const program = runProgram('test/crash/subscriber-program.ts', { args: [cluster.databaseUrl, file] })
    await program.line(/^ready/)
    return program
  }
  await migrate(pool)
  let subscriber = await start()
  await underLoad(cluster, pool, async () => {
    await kill(subscriber)
    await sleep(Math.random() * 200)
    subscriber = await start()
  })
  await sequence(pool)
  const newest = await newestPosition(pool)
  const told = () =>
    readFileSync(file, 'utf8')
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line) as Line)
  await waitFor(() => (told().at(-1)?.position === newest ? true : undefined))
  expect(told().filter((line) => line.isReset)).toEqual([])
  expect(told().flatMap((line) => line.ids)).toEqual(consecutive(Number(newest)))
  await kill(subscriber)
  await pool.end()
})
