import type { Client } from 'pg'
import { describe, expect, onTestFinished, test } from 'vitest'
import { aWorker, deferred, useEngine } from '../../test/engine.ts'
import { Session } from '../../test/model/session.ts'
import type { AnyWorker, Dispatcher } from './index.ts'

const engine = useEngine()

/** A transaction beside the dispatcher's, to lock something for as long as the test likes. */
async function aTransaction(): Promise<Session> {
  const session = await new Session(engine.databaseUrl).connect()
  onTestFinished(() => session.close())
  await session.begin()
  return session
}

const pidOf = async ({ client }: { client: Client }) =>
  (await client.query('select pg_backend_pid() as pid')).rows[0].pid as number

/** Resolves when somebody waits for a lock of the session. */
async function isWaitedFor(session: Session): Promise<void> {
  const pid = await pidOf(session)
  const waiting = async () => {
    const { rows } = await engine.pool.query(
      'select count(*)::int as n from pg_stat_activity where $1 = any(pg_blocking_pids(pid))',
      [pid],
    )
    return rows[0].n as number
  }
  await expect.poll(waiting).toBeGreaterThan(0)
}

/** Tasks that are quick but for one, during which the dispatcher has more of them in hand that have not begun. */
async function aLongOneAmongMany(): Promise<{ worker: AnyWorker; begun: Promise<string>; end: () => void }> {
  const [begun, end] = [deferred<string>(), deferred()]
  let count = 0
  const worker = aWorker({
    work({ task }) {
      count += 1
      if (count !== 300) return undefined
      begun.resolve(task.id)
      return end.promise
    },
  })
  await engine.millrace.addMany(Array.from({ length: 1000 }, (_, payload) => ({ worker, payload })))
  return { worker, begun: begun.promise, end: end.resolve }
}

const liveCount = async (worker: AnyWorker, state: string) => {
  const { rows } = await engine.pool.query(
    `select count(*)::int as n from millrace.live l join millrace.lane on lane.id = l.lane where kind = $1 and state::text ~ $2`,
    [worker.kind, state],
  )
  return rows[0].n as number
}

const isListed = async ({ id }: Dispatcher) =>
  (await engine.pool.query('select from millrace.idle where dispatcher = $1', [id])).rowCount === 1

describe('a dispatcher is idle', () => {
  test('of an empty store without waiting for its next poll, and performs nothing', async () => {
    const ran: unknown[] = []
    const dispatcher = await engine.dispatch([aWorker({ work: ({ payload }) => void ran.push(payload) })])
    await dispatcher.idle()
    // Asleep it polls ever more rarely, once in a second in the end: so many polls would take fifteen.
    const asked = performance.now()
    for (let time = 0; time < 20; time += 1) await dispatcher.idle()
    expect(performance.now() - asked).toBeLessThan(10_000)
    expect(ran).toEqual([])
  })

  test('when all is drained, what became ready meanwhile too', async () => {
    const ran: unknown[] = []
    const worker = aWorker({
      work: ({ payload }) => void ran.push(payload),
      async onSuccess(tx, { payload }) {
        if (payload === 'parent') await tx.add(worker, 'child')
      },
    })
    const dispatcher = await engine.dispatch([worker], { concurrency: 2 })
    const first = await engine.add(worker, {}, 'first')
    const second = await engine.add(worker, { requires: [first] }, 'second')
    await engine.add(worker, { requires: [second] }, 'parent')
    await dispatcher.idle()
    expect(ran).toEqual(['first', 'second', 'parent', 'child'])
    expect(await liveCount(worker, '.')).toBe(0)
  })

  test('not before what runs has ended: whoever will not wait so long races it, and takes nothing away', async () => {
    const [begun, end] = [deferred(), deferred()]
    const worker = aWorker({
      work() {
        begun.resolve()
        return end.promise
      },
    })
    const id = await engine.add(worker)
    const dispatcher = await engine.dispatch([worker])
    await begun.promise
    const idle = dispatcher.idle().then(() => 'idle')
    const limit = new Promise((resolve) => setTimeout(() => resolve('too long'), 50))
    expect(await Promise.race([idle, limit])).toBe('too long')
    expect(await engine.states(id)).toEqual(['running'])
    end.resolve()
    expect(await idle).toBe('idle')
    expect(await engine.states(id)).toEqual(['succeeded'])
  })
})

describe('a dispatcher is not idle', () => {
  test('while it gives back what it had claimed ahead, and then it takes that again', async () => {
    const { worker, begun, end } = await aLongOneAmongMany()
    const dispatcher = await engine.dispatch([worker], { concurrency: 1, prefetch: 1000 })
    await begun
    // Only what is given back is written there.
    const other = await aTransaction()
    await other.client.query('lock table millrace.attempt in share mode')
    await isWaitedFor(other)
    end()
    let isIdle = false
    const idle = dispatcher.idle().then(() => {
      isIdle = true
    })
    // It has looked at everything, and found nothing.
    await expect.poll(() => isListed(dispatcher)).toBe(true)
    expect([isIdle, (await liveCount(worker, 'running')) > 0]).toEqual([false, true])
    await other.end('rollback')
    await idle
    expect(await liveCount(worker, '.')).toBe(0)
  })

  test('before it has looked for what was there when it was asked', async () => {
    const [begun, end] = [deferred(), deferred()]
    const ran: unknown[] = []
    const worker = aWorker({
      work({ payload }) {
        ran.push(payload)
        begun.resolve()
        return end.promise
      },
    })
    const dispatcher = await engine.dispatch([worker], { concurrency: 1, prefetch: 0, leaseSeconds: 3 })
    await dispatcher.idle()
    await engine.add(worker, {}, 'first')
    await begun.promise
    const later = await engine.add(worker, {}, 'later')
    const [hiding, slowing] = [await aTransaction(), await aTransaction()]
    await hiding.client.query('select from millrace.live where id = $1 for update', [later])
    // By the time it has renewed its lease twice it has not looked from the start for long: its next look will.
    const leaseEnd = async () =>
      (await engine.pool.query('select expires_at from millrace.dispatcher where id = $1', [dispatcher.id])).rows[0]
        .expires_at as Date
    const first = await leaseEnd()
    await expect.poll(async () => (await leaseEnd()).getTime()).toBeGreaterThan(first.getTime() + 1500)
    // The step that looks tells subscribers what has succeeded when it has looked.
    await slowing.client.query('lock table millrace.outbox in share mode')
    end.resolve()
    await isWaitedFor(slowing)
    await hiding.end('rollback')
    const idle = dispatcher.idle()
    await slowing.end('rollback')
    await idle
    expect(ran).toEqual(['first', 'later'])
  })

  test('while something is still to come of what has ended', async () => {
    const ran: unknown[] = []
    const worker = aWorker({ work: ({ payload }) => void ran.push(payload) })
    const top = await engine.add(worker, {}, 'top')
    const below = await engine.add(worker, { requires: [top] }, 'below')
    const dispatcher = await engine.dispatch([worker])
    await dispatcher.idle()
    // As whoever adds a task that requires it does: it cannot be run again yet.
    const other = await aTransaction()
    await other.client.query('select from millrace.done where id = $1 for key share', [below])
    await engine.millrace.rerun(top)
    let isIdle = false
    const idle = dispatcher.idle().then(() => {
      isIdle = true
    })
    await expect.poll(() => engine.states(top)).toEqual(['succeeded'])
    // Each time it looks, it takes up what is to be done, and puts it back.
    const newest = async () =>
      Number((await engine.pool.query('select max(id) as id from millrace.effect where ref = $1', [below])).rows[0].id)
    const first = await newest()
    await expect.poll(newest).toBeGreaterThan(first + 3)
    expect([isIdle, ran]).toEqual([false, ['top', 'below', 'top']])
    await other.end('rollback')
    await idle
    expect(ran).toEqual(['top', 'below', 'top', 'below'])
  })
})

test('what somebody has locked while it is given back is given back after that', async () => {
  const { worker, begun, end } = await aLongOneAmongMany()
  const dispatcher = await engine.dispatch([worker], { concurrency: 1, prefetch: 1000 })
  const running = await begun
  // As whoever adds a task that requires it does.
  const other = await aTransaction()
  const { rowCount } = await other.client.query(
    `select from millrace.live where holder = $1 and state = 'running' and id <> $2 order by id desc limit 1 for key share`,
    [dispatcher.id, running],
  )
  expect(rowCount).toBe(1)
  await engine.millrace.want(dispatcher.id, 'paused')
  await expect.poll(() => liveCount(worker, 'running')).toBe(2)
  await other.end('rollback')
  await expect.poll(() => liveCount(worker, 'running')).toBe(1)
  end()
  await dispatcher.idle()
  expect(await liveCount(worker, 'ready')).toBe(700)
})
