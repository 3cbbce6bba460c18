import { describe, expect, test } from 'vitest'
import { waitFor } from '../processes.ts'
import {
  type Bench,
  bench,
  count,
  type DispatcherProgram,
  expectExactlyOnce,
  startDispatcher,
  untilFinished,
  untilState,
} from './kit.ts'

// Long enough that nobody who is only slow loses it.
const LEASE_SECONDS = 3

const start = (at: Bench, isHolding: boolean) =>
  startDispatcher(at.databaseUrl, { leaseSeconds: LEASE_SECONDS, isHolding })

/** The frozen one wakes with the signal to go on already there: it tries to commit at once. */
function thaw(dispatcher: DispatcherProgram): void {
  dispatcher.child.kill('SIGUSR2')
  dispatcher.child.kill('SIGCONT')
}

async function droppedBy(at: Bench, task: string) {
  const dropped = await waitFor(async () =>
    (await at.millrace.history(task)).find((entry) => entry.name === 'result_dropped'),
  )
  return dropped.error as { holder: number; epoch: number }
}

/** The dispatcher has a new incarnation and performs tasks with it. */
async function expectItWorksOn(at: Bench, dispatcher: DispatcherProgram, others: DispatcherProgram[]): Promise<void> {
  for (const other of others) {
    other.child.kill('SIGTERM')
    expect(await other.exitCode).toBe(0)
  }
  const { id } = await at.millrace.add('crash.hold', {})
  await dispatcher.line(new RegExp(`^begun ${id}$`))
  await untilState(at.millrace, id, 'succeeded')
  const known = [dispatcher.incarnation, ...others.map((other) => other.incarnation)]
  expect(known).not.toContain((await at.millrace.task(id)).dispatcher?.id)
}

describe('a dispatcher frozen past its lease and then continued', () => {
  for (const kind of ['crash.hold', 'crash.plain', 'crash.obedient']) {
    test(`cannot commit what others have done meanwhile (${kind})`, async () => {
      await using at = await bench()
      await using frozen = await start(at, true)
      const { id } = await at.millrace.add(kind, {})
      await frozen.line(new RegExp(`^begun ${id}$`))
      frozen.child.kill('SIGSTOP')
      await using other = await start(at, false)
      await untilState(at.millrace, id, 'succeeded')
      expect((await at.millrace.task(id)).dispatcher?.id).toBe(other.incarnation)

      thaw(frozen)
      expect(await droppedBy(at, id)).toEqual({ holder: frozen.incarnation, epoch: 1 })
      expect((await at.millrace.task(id)).dispatcher?.id).toBe(other.incarnation)
      await expectItWorksOn(at, frozen, [other])
      await untilFinished(at.pool)
      await expectExactlyOnce(at.pool)
    })
  }

  // The scenario that others fail: the stale completion comes while the new performance is under way.
  for (const kind of ['crash.hold', 'crash.plain']) {
    test(`cannot complete what another is performing (${kind})`, async () => {
      await using at = await bench()
      await using stale = await start(at, true)
      const { id } = await at.millrace.add(kind, {})
      await stale.line(new RegExp(`^begun ${id}$`))
      stale.child.kill('SIGSTOP')
      await using current = await start(at, true)
      await current.line(new RegExp(`^begun ${id}$`))

      thaw(stale)
      await droppedBy(at, id)
      expect(await at.millrace.task(id)).toMatchObject({ state: 'running', dispatcher: { id: current.incarnation } })
      expect(await count(at.pool, 'crash.effect')).toBe(0)

      current.child.kill('SIGUSR2')
      await untilState(at.millrace, id, 'succeeded')
      expect((await at.millrace.task(id)).dispatcher?.id).toBe(current.incarnation)
      await expectExactlyOnce(at.pool)
    })
  }

  test('in the transaction of its callback blocks nobody, and cannot commit it', async () => {
    await using at = await bench()
    await using frozen = await start(at, true)
    const { id } = await at.millrace.add('crash.callback', {})
    await frozen.line(new RegExp(`^in callback ${id}$`))
    frozen.child.kill('SIGSTOP')
    await using other = await start(at, false)
    await untilState(at.millrace, id, 'succeeded')
    expect((await at.millrace.task(id)).dispatcher?.id).toBe(other.incarnation)

    thaw(frozen)
    await droppedBy(at, id)
    await expectItWorksOn(at, frozen, [other])
    await expectExactlyOnce(at.pool)
  })
})

test('a callback that stood still for a whole lease counts as a transient error', async () => {
  await using at = await bench()
  await using dispatcher = await start(at, true)
  const { id } = await at.millrace.add('crash.callback', {})
  await dispatcher.line(new RegExp(`^in callback ${id}$`))
  const standing = `pg_stat_activity where datname = current_database() and state = 'idle in transaction'`
  await waitFor(async () => ((await count(at.pool, standing)) === 1 ? true : undefined))
  await waitFor(async () => ((await count(at.pool, standing)) === 0 ? true : undefined))
  dispatcher.child.kill('SIGUSR2')
  await untilState(at.millrace, id, 'succeeded')
  expect((await at.millrace.task(id)).failures).toBe(1)
  await expectExactlyOnce(at.pool)
})
