import { expect, test } from 'vitest'
import { waitFor } from '../processes.ts'
import { bench, count, expectExactlyOnce, namesOf, now, startDispatcher, untilFinished, untilState } from './kit.ts'

// Long against what a stop takes on a busy machine, so that nothing here comes back by a lease that ran out.
const LEASE_SECONDS = 60

test('SIGTERM lets running work finish and commit, while another performs what was not begun', async () => {
  await using at = await bench()
  const kinds = ['crash.hold']
  await using dispatcher = await startDispatcher(at.databaseUrl, {
    leaseSeconds: LEASE_SECONDS,
    concurrency: 1,
    isHolding: true,
    kinds,
  })
  const held = await at.millrace.add('crash.hold', {})
  await dispatcher.line(new RegExp(`^begun ${held.id}$`))
  const waiting = await at.millrace.addMany(Array.from({ length: 20 }, () => ({ worker: 'crash.hold', payload: {} })))
  const asked = await now(at.pool)
  dispatcher.child.kill('SIGTERM')
  await using other = await startDispatcher(at.databaseUrl, { leaseSeconds: LEASE_SECONDS, kinds })
  await waitFor(async () => ((await count(at.pool, 'crash.effect')) === waiting.length ? true : undefined))
  expect((await at.millrace.task(held.id)).state).toBe('running')

  dispatcher.child.kill('SIGUSR2')
  expect(await dispatcher.exitCode).toBe(0)
  expect(dispatcher.stdout()).toMatch(/stopped\nclosed\n$/)
  await untilFinished(at.pool)
  expect(await at.millrace.task(held.id)).toMatchObject({
    state: 'succeeded',
    dispatcher: { id: dispatcher.incarnation },
  })
  await expectExactlyOnce(at.pool)
  expect(await count(at.pool, 'millrace.attempt where outcome = $1', ['lease_lost'])).toBe(0)
  expect((await now(at.pool)).getTime() - asked.getTime()).toBeLessThan(LEASE_SECONDS * 1000)
  expect(other.stdout()).not.toMatch(/^error/m)
})

test('tasks claimed ahead are ready again when SIGTERM comes', async () => {
  await using at = await bench()
  await using dispatcher = await startDispatcher(at.databaseUrl, {
    leaseSeconds: LEASE_SECONDS,
    concurrency: 2,
    isHolding: true,
    kinds: ['crash.graph', 'crash.hold'],
  })
  // Quick ones make it claim ahead; behind them lies work that it has no room to begin.
  const quick = { worker: 'crash.graph', payload: { ms: 0, failures: 0, isLater: false, followers: 0 } }
  const slow = { worker: 'crash.hold', payload: {} }
  await at.millrace.addMany([...Array.from({ length: 400 }, () => quick), ...Array.from({ length: 50 }, () => slow)])
  await waitFor(() => (dispatcher.stdout().split('begun').length > 2 ? true : undefined))
  dispatcher.child.kill('SIGTERM')
  await waitFor(async () => ((await count(at.pool, `millrace.live where state = 'ready'`)) === 48 ? true : undefined))
  expect(await count(at.pool, `millrace.live where state = 'running'`)).toBe(2)
  dispatcher.child.kill('SIGUSR2')
  expect(await dispatcher.exitCode).toBe(0)
  expect(await at.millrace.verify()).toEqual([])
})

test('what is claimed ahead of short work under way is given back at SIGTERM, long before what runs has ended', async () => {
  await using at = await bench()
  const PLACES = 2
  await using dispatcher = await startDispatcher(at.databaseUrl, {
    leaseSeconds: LEASE_SECONDS,
    concurrency: PLACES,
    isHolding: true,
    kinds: ['crash.graph', 'crash.hold'],
  })
  const held = await at.millrace.add('crash.hold', {})
  await dispatcher.line(new RegExp(`^begun ${held.id}$`))
  // They go through the other place, one after the other, so many that it claims ahead until the signal comes.
  const short = { worker: 'crash.graph', payload: { ms: 1, failures: 0, isLater: false, followers: 0 } }
  const tasks = await at.millrace.addMany(Array.from({ length: 20_000 }, () => short))
  const claimed = `millrace.live where state = 'running' and holder = $1`
  await waitFor(async () => ((await count(at.pool, claimed, [dispatcher.incarnation])) > PLACES ? true : undefined))
  const asked = await now(at.pool)
  dispatcher.child.kill('SIGTERM')
  await waitFor(async () => ((await count(at.pool, claimed, [dispatcher.incarnation])) === 1 ? true : undefined))
  expect((await at.millrace.task(held.id)).state).toBe('running')
  const handedBack = `millrace.attempt where outcome = 'handed_back' and holder = $1 and ended_at > $2`
  expect(await count(at.pool, handedBack, [dispatcher.incarnation, asked])).toBeGreaterThan(0)
  const [left, done] = [
    await count(at.pool, `millrace.live where state = 'ready'`),
    await count(at.pool, 'millrace.done'),
  ]
  expect([left > 0, left + done]).toEqual([true, tasks.length])

  dispatcher.child.kill('SIGUSR2')
  expect(await dispatcher.exitCode).toBe(0)
  expect(await at.millrace.task(held.id)).toMatchObject({
    state: 'succeeded',
    dispatcher: { id: dispatcher.incarnation },
  })
  expect(await at.millrace.verify()).toEqual([])
})

test('work that does not finish is handed back after the grace, and its late result is dropped and on record', async () => {
  await using at = await bench()
  const options = { leaseSeconds: LEASE_SECONDS, stopSeconds: 0.2 }
  await using dispatcher = await startDispatcher(at.databaseUrl, { ...options, isHolding: true })
  const [withCallback, plain] = (
    await at.millrace.addMany([
      { worker: 'crash.hold', payload: {} },
      { worker: 'crash.plain', payload: {} },
    ])
  ).map((task) => task.id) as [string, string]
  for (const task of [withCallback, plain]) await dispatcher.line(new RegExp(`^begun ${task}$`))
  dispatcher.child.kill('SIGTERM')
  await dispatcher.line(/^stopped$/)
  for (const task of [withCallback, plain]) await untilState(at.millrace, task, 'ready')

  dispatcher.child.kill('SIGUSR2')
  await waitFor(async () => ((await namesOf(at.millrace, withCallback)).includes('result_dropped') ? true : undefined))
  await waitFor(async () => ((await namesOf(at.millrace, plain)).includes('result_dropped') ? true : undefined))
  expect(await count(at.pool, 'crash.effect')).toBe(0)
  dispatcher.child.kill('SIGTERM')
  expect(await dispatcher.exitCode).toBe(0)

  await using _other = await startDispatcher(at.databaseUrl, options)
  await untilFinished(at.pool)
  await expectExactlyOnce(at.pool)
})

test('work that obeys the stop is handed back, not failed', async () => {
  await using at = await bench()
  const options = { leaseSeconds: LEASE_SECONDS, stopSeconds: 0.2 }
  await using dispatcher = await startDispatcher(at.databaseUrl, { ...options, isHolding: true })
  const { id } = await at.millrace.add('crash.obedient', {})
  await dispatcher.line(new RegExp(`^begun ${id}$`))
  dispatcher.child.kill('SIGTERM')
  await dispatcher.line(new RegExp(`^told ${id} stopping$`))
  await dispatcher.line(/^stopped$/)
  dispatcher.child.kill('SIGTERM')
  expect(await dispatcher.exitCode).toBe(0)
  expect((await at.millrace.task(id)).state).toBe('ready')

  await using _other = await startDispatcher(at.databaseUrl, options)
  await untilFinished(at.pool)
  await expectExactlyOnce(at.pool)
})
