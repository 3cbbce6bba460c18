import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { inForm } from '../long-form.ts'
import { waitFor } from '../processes.ts'
import {
  type Bench,
  bench,
  count,
  type DispatcherProgram,
  expectExactlyOnce,
  kill,
  randomGraph,
  startDispatcher,
  untilFinished,
} from './kit.ts'

const LEASE_SECONDS = 3 // long against what a busy machine adds to it
// What is there to be put back is looked for once in a second; the machine may be busy with other things.
const SLACK_SECONDS = 10

type Held = { readonly task: string; readonly epoch: number }
type Death = {
  readonly holder: number
  readonly tasks: readonly Held[]
  /** From the death, or a moment later, until its lease runs out. */
  readonly leaseSeconds: number
  readonly expiresAt: Date
}

/** Kills it and answers what it held by then: a claim whose commit was under way may still arrive. */
async function killAndLook(at: Bench, dispatcher: DispatcherProgram): Promise<Death> {
  await kill(dispatcher)
  const holder = dispatcher.incarnation
  const { rows } = await at.pool.query(
    `select expires_at as "expiresAt", extract(epoch from expires_at - clock_timestamp())::float8 as "leaseSeconds"
     from millrace.dispatcher where id = $1`,
    [holder],
  )
  // Once it was found dead, `expires_at` says when to look for its tasks a second time.
  const held = await at.pool.query(
    `select l.id as task, l.epoch from millrace.live l join millrace.dispatcher d on d.id = l.holder
     where l.holder = $1 and d.dead_at is null`,
    [holder],
  )
  return { ...(rows[0] as Pick<Death, 'expiresAt' | 'leaseSeconds'>), holder, tasks: held.rows as Held[] }
}

/** For each task that it lost, the seconds from the end of its lease until the task was given to others. */
async function putBackAfterSeconds(at: Bench, death: Death): Promise<number[]> {
  const { rows } = await at.pool.query(
    `select extract(epoch from a.ended_at - $4)::float8 as seconds
     from unnest($2::bigint[], $3::int[]) held(task, epoch) join millrace.attempt a on a.task = held.task and a.epoch = held.epoch
     where a.holder = $1 and a.outcome = 'lease_lost'`,
    [death.holder, death.tasks.map(({ task }) => task), death.tasks.map(({ epoch }) => epoch), death.expiresAt],
  )
  return rows.map((row: { seconds: number }) => row.seconds)
}

test('dispatchers killed at random moments lose and double nothing, and their tasks are back once their last lease is over', async () => {
  await using at = await bench()
  const start = () =>
    startDispatcher(at.databaseUrl, { leaseSeconds: LEASE_SECONDS, concurrency: 8, prefetch: 40, maxDeaths: 1000 })
  const running = await Promise.all([start(), start(), start()])
  const deaths: Death[] = []
  try {
    for (let round = 0; round < inForm(4, 12); round += 1) {
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
  // By the database's clock alone.
  for (const death of deaths) expect(death.leaseSeconds).toBeLessThanOrEqual(LEASE_SECONDS)
  const putBack = (await Promise.all(deaths.map((death) => putBackAfterSeconds(at, death)))).flat()
  expect(putBack.length).toBeGreaterThan(0)
  expect(Math.min(...putBack)).toBeGreaterThan(0)
  expect(Math.max(...putBack)).toBeLessThan(SLACK_SECONDS)
})

test('a task that kills its dispatcher fails in the end, and those that ran beside it succeed', async () => {
  await using at = await bench()
  const killer = await at.millrace.add('crash.killer', {})
  const beside = await at.millrace.addMany([
    // Some run as long as the killer lives, some are over soon, and most were claimed and not begun.
    ...Array.from({ length: 3 }, () => ({ worker: 'crash.graph', payload: graph(400) })),
    ...Array.from({ length: 20 }, () => ({ worker: 'crash.graph', payload: graph(5) })),
  ])
  const maxDeaths = inForm(3, 5)
  const start = () => startDispatcher(at.databaseUrl, { leaseSeconds: 2, concurrency: 5, maxDeaths })
  let deaths = 0
  for (let dispatcher = await start(); ; dispatcher = await start()) {
    const isOver = await Promise.race([dispatcher.exitCode.then(() => false), untilFinished(at.pool).then(() => true)])
    await kill(dispatcher)
    if (isOver) break
    deaths += 1
    expect(deaths).toBeLessThan(10)
  }
  expect(deaths).toBe(maxDeaths)
  const ended = await at.millrace.task(killer.id)
  expect(ended).toMatchObject({ state: 'failed', deaths: maxDeaths, error: { code: 'died_too_often' } })
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
