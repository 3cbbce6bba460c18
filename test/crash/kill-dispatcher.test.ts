import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { waitFor } from '../processes.ts'
import {
  type Bench,
  bench,
  count,
  type DispatcherProgram,
  expectExactlyOnce,
  kill,
  now,
  randomGraph,
  startDispatcher,
  untilFinished,
} from './kit.ts'

const LEASE_SECONDS = 3 // long against what a busy machine adds to it
const SCAN_SECONDS = 1 // how often dispatchers look for leases that ran out

type Death = { readonly holder: number; readonly at: Date; readonly tasks: readonly string[] }

/** Kills it and answers what it held by then: a claim whose commit was under way may still arrive. */
async function killAndLook(at: Bench, dispatcher: DispatcherProgram): Promise<Death> {
  await kill(dispatcher)
  const diedAt = await now(at.pool)
  const { rows } = await at.pool.query('select id from millrace.live where holder = $1', [dispatcher.incarnation])
  return { holder: dispatcher.incarnation, at: diedAt, tasks: rows.map((row: { id: string }) => row.id) }
}

/** Seconds from the death until the last of its tasks was given to others. */
async function recoverySeconds(at: Bench, death: Death): Promise<number> {
  const { rows } = await at.pool.query(
    `select extract(epoch from max(ended_at) - $3)::float8 as seconds from millrace.attempt
     where holder = $1 and task = any($2) and outcome = 'lease_lost'`,
    [death.holder, death.tasks, death.at],
  )
  return (rows[0] as { seconds: number | null }).seconds ?? 0
}

test('dispatchers killed at random moments lose and double nothing, and their tasks are back within one lease', async () => {
  await using at = await bench()
  const start = () =>
    startDispatcher(at.databaseUrl, { leaseSeconds: LEASE_SECONDS, concurrency: 8, prefetch: 40, maxDeaths: 1000 })
  const running = await Promise.all([start(), start(), start()])
  const deaths: Death[] = []
  try {
    for (let round = 0; round < 12; round += 1) {
      await at.millrace.addMany(randomGraph(120))
      await sleep(Math.random() * 250)
      const victim = Math.floor(Math.random() * running.length)
      deaths.push(await killAndLook(at, running[victim] as DispatcherProgram))
      running[victim] = await start()
    }
    await untilFinished(at.pool)
  } finally {
    await Promise.all(running.map((dispatcher) => kill(dispatcher)))
  }
  await expectExactlyOnce(at.pool)
  expect(await count(at.pool, `millrace.attempt where outcome = 'lease_lost'`)).toBeGreaterThan(0)
  // Three times what is promised: the machine may be busy with other things.
  const limit = 3 * (LEASE_SECONDS + SCAN_SECONDS)
  for (const death of deaths) expect(await recoverySeconds(at, death)).toBeLessThan(limit)
})

test('a task that kills its dispatcher fails in the end, and those that ran beside it succeed', async () => {
  await using at = await bench()
  const killer = await at.millrace.add('crash.killer', {})
  const beside = await at.millrace.addMany([
    // Some run as long as the killer lives, some are over soon, and most were claimed and not begun.
    ...Array.from({ length: 3 }, () => ({ worker: 'crash.graph', payload: graph(400) })),
    ...Array.from({ length: 20 }, () => ({ worker: 'crash.graph', payload: graph(5) })),
  ])
  const start = () => startDispatcher(at.databaseUrl, { leaseSeconds: 2, concurrency: 5 })
  let deaths = 0
  for (let dispatcher = await start(); ; dispatcher = await start()) {
    const isOver = await Promise.race([dispatcher.exitCode.then(() => false), untilFinished(at.pool).then(() => true)])
    await kill(dispatcher)
    if (isOver) break
    deaths += 1
    expect(deaths).toBeLessThan(10)
  }
  expect(deaths).toBe(5)
  const ended = await at.millrace.task(killer.id)
  expect(ended).toMatchObject({ state: 'failed', deaths: 5, error: { code: 'died_too_often' } })
  const others = await Promise.all(beside.map((task) => at.millrace.task(task.id)))
  expect(others.filter((task) => task.state !== 'succeeded')).toEqual([])
  expect(await at.millrace.verify()).toEqual([])
})

test('a dispatcher killed while it idles is forgotten by the others', async () => {
  await using at = await bench()
  const first = await startDispatcher(at.databaseUrl, { leaseSeconds: LEASE_SECONDS })
  await using _second = await startDispatcher(at.databaseUrl, { leaseSeconds: LEASE_SECONDS })
  await waitFor(async () => ((await count(at.pool, 'millrace.idle')) === 2 ? true : undefined))
  await kill(first)
  await waitFor(async () => ((await count(at.pool, 'millrace.idle')) === 1 ? true : undefined))
  await waitFor(async () =>
    (await count(at.pool, 'millrace.dispatcher where swept_at is not null')) === 1 ? true : undefined,
  )
})

const graph = (ms: number) => ({ ms, failures: 0, isLater: false, followers: 0 })
