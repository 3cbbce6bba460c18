import { expect, test } from 'vitest'
import { waitFor } from '../processes.ts'
import { type Bench, bench, count, expectExactlyOnce, startDispatcher, untilFinished, untilState } from './kit.ts'
import { proxyTo, type Wiring } from './proxy.ts'

// Long enough that nobody who is only slow loses it.
const LEASE_SECONDS = 3

const dropped = (at: Bench, task: string) =>
  waitFor(async () => (await at.millrace.history(task)).find((entry) => entry.name === 'result_dropped'))

const SILENT = 'the old connections stay silent for ever'
const KINDS = ['crash.hold', 'crash.plain', 'crash.obedient']

const healings: Record<string, (proxy: Wiring) => void> = {
  'what was on its way arrives late': (proxy) => proxy.flow(),
  'the connections break': (proxy) => {
    proxy.cut()
    proxy.flow()
  },
  [SILENT]: (proxy) => proxy.strand(),
}

for (const [how, heal] of Object.entries(healings)) {
  test(`a dispatcher cut off past its lease commits nothing when ${how}`, async () => {
    await using at = await bench()
    await using proxy = await proxyTo(at.databaseUrl)
    await using cutOff = await startDispatcher(proxy.databaseUrl, { leaseSeconds: LEASE_SECONDS, isHolding: true })
    const tasks = await at.millrace.addMany(KINDS.map((worker) => ({ worker, payload: {} })))
    for (const { id } of tasks) await cutOff.line(new RegExp(`^begun ${id}$`))
    proxy.stall()
    await using other = await startDispatcher(at.databaseUrl, { leaseSeconds: LEASE_SECONDS })
    await untilFinished(at.pool)

    cutOff.child.kill('SIGUSR2')
    heal(proxy)
    // A callback on a connection that stays silent waits until the system gives it up; claiming does not.
    const isSilent = heal === healings[SILENT]
    for (const [i, { id }] of tasks.entries()) if (!isSilent || KINDS[i] === 'crash.plain') await dropped(at, id)
    other.child.kill('SIGTERM')
    expect(await other.exitCode).toBe(0)
    const { id } = await at.millrace.add('crash.hold', {})
    await untilState(at.millrace, id, 'succeeded')
    await expectExactlyOnce(at.pool)
    expect(cutOff.stdout()).not.toMatch(/^error/m)
  })
}

test('a commit whose answer is lost is not done twice', async () => {
  await using at = await bench()
  await using proxy = await proxyTo(at.databaseUrl)
  await using dispatcher = await startDispatcher(proxy.databaseUrl, { leaseSeconds: 60, isHolding: true })
  const { id } = await at.millrace.add('crash.hold', {})
  await dispatcher.line(new RegExp(`^begun ${id}$`))
  const lost = proxy.loseAnswerTo(/commit/)
  dispatcher.child.kill('SIGUSR2')
  await lost
  await untilFinished(at.pool)
  const { id: next } = await at.millrace.add('crash.hold', {})
  await untilState(at.millrace, next, 'succeeded')
  await expectExactlyOnce(at.pool)
  expect((await at.millrace.history(id)).map((entry) => entry.name)).not.toContain('result_dropped')
})

test('a step whose answer is lost neither doubles its successes nor keeps what it claimed', async () => {
  await using at = await bench()
  await using proxy = await proxyTo(at.databaseUrl)
  await using dispatcher = await startDispatcher(proxy.databaseUrl, {
    leaseSeconds: 60,
    concurrency: 1,
    prefetch: 0, // else a second step may be under way, and claim the next
    isHolding: true,
    kinds: ['crash.plain', 'crash.hold'],
  })
  const first = await at.millrace.add('crash.plain', {})
  await dispatcher.line(new RegExp(`^begun ${first.id}$`))
  const next = await at.millrace.add('crash.hold', {})
  // The step that records the first one claims the next.
  const lost = proxy.loseAnswerTo(/millrace\.step|engine\.step/) // the text, or the name once it is prepared
  dispatcher.child.kill('SIGUSR2')
  await lost
  await untilState(at.millrace, next.id, 'succeeded')
  const outcomes = (await at.millrace.history(next.id)).map((entry) => entry.name)
  expect(outcomes.filter((name) => name === 'claimed')).toHaveLength(2)
  expect(outcomes).toContain('handed_back')
  await expectExactlyOnce(at.pool)
  expect((await at.millrace.history(first.id)).map((entry) => entry.name)).not.toContain('result_dropped')
})

test('what a step claims after its dispatcher gave it up is found and handed back', async () => {
  await using at = await bench()
  await using proxy = await proxyTo(at.databaseUrl)
  await using _dispatcher = await startDispatcher(proxy.databaseUrl, { leaseSeconds: LEASE_SECONDS })
  const { id } = await at.millrace.add('crash.hold', {}, { heldBy: 'the test' })
  const blocker = await at.pool.connect()
  try {
    await blocker.query('begin')
    await blocker.query('lock table millrace.task in access exclusive mode')
    await at.millrace.release(id, { client: blocker })
    // Each round leaves a step behind in the server; its dispatcher asks what it holds, finds nothing, and goes on.
    for (let orphans = 0; orphans < 4; orphans += 1) {
      await waitFor(async () => ((await stepsThatWait(at)) > orphans ? true : undefined))
      proxy.cut()
    }
    await blocker.query('commit')
  } finally {
    blocker.release(true)
  }
  await untilState(at.millrace, id, 'succeeded')
  await expectExactlyOnce(at.pool)
})

const stepsThatWait = (at: Bench) =>
  count(
    at.pool,
    `pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' and query like '%millrace.step%'`,
  )
