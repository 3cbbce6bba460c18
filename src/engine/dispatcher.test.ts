import { describe, expect, test } from 'vitest'
import { aWorker, deferred, useEngine } from '../../test/engine.ts'
import { InvalidOption } from './errors.ts'
import { connect } from './millrace.ts'
import type { WorkStopped } from './run.ts'

const engine = useEngine()

const runningCount = async (kind: string) => {
  const { rows } = await engine.pool.query(
    `select count(*)::int as n from millrace.live join millrace.lane on lane.id = live.lane where kind = $1 and state = 'running'`,
    [kind],
  )
  return rows[0].n as number
}

describe('claiming', () => {
  test('takes nothing when nothing is ready', async () => {
    const worker = aWorker({
      work() {
        throw new Error('nothing was added')
      },
    })
    const dispatcher = await engine.dispatch([worker])
    await dispatcher.idle()
    const byHand = await engine.byHand([worker])
    expect(await byHand.claim(10)).toEqual([])
  })

  test('takes only ready tasks', async () => {
    const worker = aWorker()
    const done = await engine.add(worker)
    await engine.drain(worker)
    const running = await engine.add(worker)
    const first = await engine.byHand([worker])
    const [run] = await first.claim()
    const waiting = await engine.add(worker, { requires: [running] })
    const others = [
      waiting,
      await engine.add(worker, { delaySeconds: 3600 }),
      await engine.add(worker, { heldBy: 'ada' }),
      await engine.add(worker),
      await engine.add(worker),
    ]
    await engine.millrace.cancel(others[3] as string)
    await engine.millrace.skip(others[4] as string)
    expect(await engine.states(done, running, ...others)).toEqual([
      'succeeded',
      'running',
      'waiting',
      'delayed',
      'held',
      'canceled',
      'skipped',
    ])
    const second = await engine.byHand([worker])
    expect(await second.claim(10)).toEqual([])
    if (run) await first.perform(run)
    await engine.drain(worker)
  })

  test('goes by priority, then by who was ready first', async () => {
    const [worker, blocker] = [aWorker(), aWorker()]
    const required = await engine.add(blocker)
    const late = await engine.add(worker, { requires: [required] })
    const ids: string[] = []
    for (const priority of [5, 0, -5, 0]) ids.push(await engine.add(worker, { priority }))
    await engine.drain(blocker)
    const { performed } = await engine.drain(worker)
    expect(performed.map(({ id }) => id)).toEqual([ids[2], ids[1], ids[3], late, ids[0]])
  })

  test('goes by priority across kinds and queues', async () => {
    const [one, two] = [aWorker({ queue: 'one' }), aWorker({ queue: 'two' })]
    const ids = [
      await engine.add(one, { priority: 3 }),
      await engine.add(two, { priority: 2 }),
      await engine.add(one, { priority: 1 }),
    ]
    const { performed } = await engine.drain(one, two)
    expect(performed.map(({ id }) => id)).toEqual(ids.reverse())
  })

  test('takes tasks only from the queues it is given', async () => {
    const ran: unknown[] = []
    const worker = aWorker({ work: ({ payload }) => void ran.push(payload) })
    await engine.add(worker, { queue: 'left' }, 'left')
    await engine.add(worker, { queue: 'right' }, 'right')
    await engine.add(worker, {}, 'default')
    const dispatcher = await engine.dispatch([worker], { queues: ['left', 'right'] })
    await dispatcher.idle()
    expect(new Set(ran)).toEqual(new Set(['left', 'right']))
    await engine.drain(worker)
    expect(ran).toContain('default')
  })

  test('takes tasks only of the kinds it has workers for', async () => {
    const [mine, other] = [aWorker(), aWorker()]
    const id = await engine.add(other)
    await engine.add(mine)
    const dispatcher = await engine.dispatch([mine])
    await dispatcher.idle()
    expect(await engine.states(id)).toEqual(['ready'])
  })

  test('performs at most so many at once', async () => {
    let running = 0
    let most = 0
    const worker = aWorker({
      async work() {
        running += 1
        most = Math.max(most, running)
        await new Promise(setImmediate)
        running -= 1
      },
    })
    await engine.millrace.addMany(Array.from({ length: 50 }, (_, payload) => ({ worker, payload })))
    const dispatcher = await engine.dispatch([worker], { concurrency: 4 })
    await dispatcher.idle()
    expect(most).toBe(4)
  })
})

test('two dispatchers never run one task at once, nor twice', async () => {
  const runs = new Map<string, number>()
  const running = new Set<string>()
  const worker = aWorker({
    async work({ task }) {
      expect(running.has(task.id)).toBe(false)
      running.add(task.id)
      runs.set(task.id, (runs.get(task.id) ?? 0) + 1)
      await new Promise(setImmediate)
      running.delete(task.id)
    },
  })
  const other = await connect({ databaseUrl: engine.databaseUrl })
  const dispatchers = [await engine.dispatch([worker]), other.dispatch([worker])]
  const added = await engine.millrace.addMany(Array.from({ length: 500 }, (_, payload) => ({ worker, payload })))
  await expect.poll(() => runningCount(worker.kind)).toBe(0)
  await Promise.all(dispatchers.map((dispatcher) => dispatcher.idle()))
  await other.close()
  expect(runs.size).toBe(500)
  expect([...runs.values()].every((count) => count === 1)).toBe(true)
  expect(new Set(await engine.states(...added.map(({ id }) => id)))).toEqual(new Set(['succeeded']))
})

describe('waking up', () => {
  test('an idle dispatcher starts what is added', async () => {
    const done = deferred()
    const worker = aWorker({ work: () => done.resolve() })
    const dispatcher = await engine.dispatch([worker])
    await dispatcher.idle()
    await engine.add(worker)
    await done.promise
  })

  test('an idle dispatcher starts what another one released, and what a transaction brings late', async () => {
    const done = deferred()
    const [first, second] = [aWorker(), aWorker({ work: () => done.resolve() })]
    const dispatcher = await engine.dispatch([second])
    await dispatcher.idle()
    const client = await engine.pool.connect()
    await client.query('begin')
    const { id } = await engine.millrace.add(first, 1, { client })
    await engine.millrace.add(second, 1, { client, requires: [id] })
    await client.query('commit')
    client.release()
    await engine.drain(first)
    await done.promise
  })

  test('without any notification polling alone is enough', async () => {
    const done = deferred()
    const worker = aWorker({ work: () => done.resolve() })
    const dispatcher = await engine.dispatch([worker])
    await dispatcher.idle()
    // Nobody is listed as asleep: nobody is woken.
    await engine.pool.query('delete from millrace.idle')
    await engine.add(worker)
    await done.promise
  })

  test('a delayed task starts when its time has come', async () => {
    const done = deferred()
    const worker = aWorker({ work: () => done.resolve() })
    await engine.dispatch([worker])
    await engine.add(worker, { delaySeconds: 0.05 })
    await done.promise
  })

  test('a task that is not to start before a time in the past is ready at once', async () => {
    const id = await engine.add(aWorker(), { notBefore: new Date(0) })
    expect(await engine.states(id)).toEqual(['ready'])
  })
})

describe('stopping', () => {
  test('lets running work finish, and its outcome is recorded', async () => {
    const [begun, end] = [deferred(), deferred()]
    const worker = aWorker({
      async work({ signal }) {
        begun.resolve()
        await end.promise
        return signal.aborted
      },
    })
    const id = await engine.add(worker)
    const dispatcher = await engine.dispatch([worker])
    await begun.promise
    const stopped = dispatcher.stop()
    end.resolve()
    await stopped
    expect(await engine.millrace.task(id)).toMatchObject({ state: 'succeeded', output: false })
  })

  test('releases at once what was claimed and not begun, and begins none of it', async () => {
    const [begun, end] = [deferred(), deferred()]
    let count = 0
    const worker = aWorker({
      work() {
        count += 1
        if (count !== 300) return undefined
        begun.resolve()
        return end.promise
      },
    })
    await engine.millrace.addMany(Array.from({ length: 1000 }, (_, payload) => ({ worker, payload })))
    const dispatcher = await engine.dispatch([worker], { concurrency: 1 })
    await begun.promise
    const stopped = dispatcher.stop()
    await expect.poll(() => runningCount(worker.kind)).toBe(1)
    expect(count).toBe(300)
    const other = await engine.byHand([worker])
    expect(await other.claim(1000)).toHaveLength(700)
    end.resolve()
    await stopped
    await engine.expire(other.id)
    expect(await runningCount(worker.kind)).toBe(0)
  })

  test('claims nothing more', async () => {
    const worker = aWorker()
    const dispatcher = await engine.dispatch([worker])
    await dispatcher.stop()
    const id = await engine.add(worker)
    expect(await engine.states(id)).toEqual(['ready'])
    await dispatcher.stop()
  })

  test('tells work that takes too long by its signal, and what heeds it is handed back, not failed', async () => {
    const begun = deferred()
    const reason = deferred<WorkStopped>()
    const worker = aWorker({
      work: ({ signal }) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => {
            reason.resolve(signal.reason)
            reject(signal.reason)
          })
          begun.resolve()
        }),
    })
    const id = await engine.add(worker)
    const dispatcher = await engine.dispatch([worker], { stopSeconds: 0.05 })
    await begun.promise
    await dispatcher.stop()
    expect((await reason.promise).code).toBe('stopping')
    expect(await engine.millrace.task(id)).toMatchObject({ state: 'ready', failures: 0, deaths: 0 })
  })

  test('hands back work that ignores its signal, and what that returns later is void', async () => {
    const [begun, end] = [deferred(), deferred()]
    const worker = aWorker({
      async work() {
        begun.resolve()
        await end.promise
        return 'late'
      },
    })
    const id = await engine.add(worker)
    const dispatcher = await engine.dispatch([worker], { stopSeconds: 0.01 })
    await begun.promise
    await dispatcher.stop()
    expect(await engine.states(id)).toEqual(['ready'])
    const other = await engine.byHand([worker])
    const [run] = await other.claim()
    end.resolve()
    if (run) expect(await other.perform(run)).toMatchObject({ outcome: 'succeeded', output: 'late' })
    expect((await engine.millrace.attempts(id)).filter(({ outcome }) => outcome === 'succeeded')).toHaveLength(1)
  })

  test('is the same for closing the connection', async () => {
    const millrace = await connect({ databaseUrl: engine.databaseUrl })
    const [begun, end] = [deferred(), deferred()]
    const worker = aWorker({
      work() {
        begun.resolve()
        return end.promise
      },
    })
    const { id } = await millrace.add(worker, 1)
    millrace.dispatch([worker])
    await begun.promise
    const closed = millrace.close()
    end.resolve()
    await closed
    expect(await engine.states(id)).toEqual(['succeeded'])
  })
})

test('a dispatcher renews its lease for as long as it runs', async () => {
  const [begun, end] = [deferred(), deferred()]
  const worker = aWorker({
    work() {
      begun.resolve()
      return end.promise
    },
  })
  const id = await engine.add(worker)
  // Long enough that it is not lost by itself on a busy machine.
  const dispatcher = await engine.dispatch([worker], { leaseSeconds: 3 })
  await begun.promise
  const expiry = async () => {
    const { rows } = await engine.pool.query('select expires_at from millrace.dispatcher where id = $1', [
      dispatcher.id,
    ])
    return (rows[0].expires_at as Date).getTime()
  }
  const first = await expiry()
  await expect.poll(expiry).toBeGreaterThan(first + 3000)
  expect(await engine.states(id)).toEqual(['running'])
  end.resolve()
})

test('a worker that throws what cannot be classified does not end the process', async () => {
  const worker = aWorker({
    async work() {
      throw new Error('no')
    },
    classify() {
      throw new Error('cannot tell')
    },
  })
  const id = await engine.add(worker)
  const dispatcher = await engine.dispatch([worker])
  await dispatcher.idle()
  expect(await engine.states(id)).toEqual(['failed'])
})

test.each([
  ['concurrency', { concurrency: 0 }],
  ['concurrency', { concurrency: 1.5 }],
  ['leaseSeconds', { leaseSeconds: 0 }],
  ['leaseSeconds', { leaseSeconds: Number.NaN }],
  ['queues', { queues: [] }],
])('a dispatcher with a bad %s is refused', (name, options) => {
  expect(() => engine.millrace.dispatch([aWorker()], options)).toThrow(InvalidOption)
  expect(() => engine.millrace.dispatch([aWorker()], options)).toThrow(name)
})

test('a dispatcher without workers is refused', () => {
  expect(() => engine.millrace.dispatch([])).toThrow(InvalidOption)
})
