import { describe, expect, onTestFinished, test } from 'vitest'
import { aWorker, deferred, useEngine } from '../../test/engine.ts'
import { InvalidOption, TaskNotFound } from './errors.ts'
import { connect } from './millrace.ts'
import { PermanentError, TransientError } from './work-error.ts'
import { type AnyWorker, later } from './worker.ts'

const engine = useEngine()

describe('locks', () => {
  test('two tasks with one lock never run at once', async () => {
    const worker = aWorker()
    await engine.millrace.addMany([1, 2, 3].map((payload) => ({ worker, payload, locks: ['archive:A'] })))
    const dispatcher = await engine.byHand([worker])
    for (let n = 0; n < 3; n += 1) {
      const runs = await dispatcher.claim(10)
      expect(runs).toHaveLength(1)
      for (const run of runs) await dispatcher.perform(run)
    }
    expect(await dispatcher.claim(10)).toEqual([])
  })

  test('tasks with other locks, or none, do not wait', async () => {
    const worker = aWorker()
    await engine.add(worker, { locks: ['archive:B'] })
    await engine.add(worker, { locks: ['archive:C'] })
    await engine.add(worker)
    const dispatcher = await engine.byHand([worker])
    const runs = await dispatcher.claim(10)
    expect(runs).toHaveLength(3)
    for (const run of runs) await dispatcher.perform(run)
  })

  test('locks hold across dispatchers and kinds', async () => {
    const [one, other] = [aWorker(), aWorker()]
    await engine.add(one, { locks: ['shared'] })
    await engine.add(other, { locks: ['shared'] })
    const [first, second] = [await engine.byHand([one]), await engine.byHand([other])]
    const [run] = await first.claim()
    expect(await second.claim()).toEqual([])
    if (run) await first.perform(run)
    const [next] = await second.claim()
    if (next) expect(await second.perform(next)).toMatchObject({ outcome: 'succeeded' })
  })

  test('a lock goes to the most urgent, then to the one that was ready first', async () => {
    const order: unknown[] = []
    const worker = aWorker({ work: ({ payload }) => void order.push(payload) })
    const blocker = await engine.add(worker, { locks: ['line'] }, 'first')
    for (const [payload, priority] of [
      ['low', 5],
      ['a', 0],
      ['b', 0],
      ['urgent', -5],
    ] as const) {
      await engine.add(worker, { locks: ['line'], priority }, payload)
    }
    expect(blocker).toBeDefined()
    await engine.drain(worker)
    expect(order).toEqual(['first', 'urgent', 'a', 'b', 'low'])
  })

  test('a task with several locks, named in any order, never deadlocks with others', async () => {
    const begun: unknown[] = []
    const running = new Set<string>()
    let clashes = 0
    const worker: AnyWorker = aWorker({
      async work({ payload }) {
        begun.push(payload)
        for (const lock of payload) {
          if (running.has(lock)) clashes += 1
          running.add(lock)
        }
        await new Promise(setImmediate)
        for (const lock of payload) running.delete(lock)
      },
    })
    const sets = [['x', 'y', 'z'], ['z', 'y', 'x'], ['y', 'x'], ['z', 'x'], ['y', 'z'], ['x']]
    const items = Array.from({ length: 30 }, (_, n) => {
      const locks = sets[n % sets.length] as string[]
      return { worker, payload: locks, locks }
    })
    const added = await engine.millrace.addMany(items)
    const dispatchers = [await engine.dispatch([worker]), await engine.dispatch([worker])]
    while ((await engine.states(...added.map(({ id }) => id))).some((state) => state !== 'succeeded')) {
      await Promise.all(dispatchers.map((dispatcher) => dispatcher.idle()))
    }
    expect(clashes).toBe(0)
    expect(begun).toHaveLength(30)
  })

  test('a lock named twice is taken once', async () => {
    const worker = aWorker()
    await engine.add(worker, { locks: ['double', 'double'] })
    expect((await engine.drain(worker)).performed).toHaveLength(1)
  })

  test('a milestone may need a lock', async () => {
    const worker = aWorker()
    const id = await engine.add(worker, { locks: ['stone'] })
    const milestone = await engine.millrace.addMilestone({ locks: ['stone'] })
    expect(await engine.states(milestone.id)).toEqual(['ready'])
    await engine.drain(worker)
    expect(await engine.states(id, milestone.id)).toEqual(['succeeded', 'succeeded'])
  })
})

describe('a lock is given back', () => {
  /** Ends the first holder of a lock in some way; answers whether the second one gets it. */
  async function handsOver(
    name: string,
    of: Partial<AnyWorker>,
    end?: (id: string) => Promise<void>,
  ): Promise<boolean> {
    const [worker, next] = [aWorker(of), aWorker()]
    const id = await engine.add(worker, { locks: [name] })
    const second = await engine.add(next, { locks: [name] })
    expect((await engine.millrace.why(second)).sentence).toContain(`the lock "${name}", held by task ${id}`)
    if (end === undefined) await engine.drain(worker)
    else await end(id)
    const { performed } = await engine.drain(next)
    return performed[0]?.id === second
  }

  test('on success', async () => expect(await handsOver('succeeded', {})).toBe(true))

  test('on failure', async () => {
    const work = () => {
      throw new PermanentError('no')
    }
    expect(await handsOver('failed', { work })).toBe(true)
  })

  test('on a transient error', async () => {
    const work = () => {
      throw new TransientError('busy', { retryAfterSeconds: 60 })
    }
    expect(await handsOver('retry', { work })).toBe(true)
  })

  test('when the worker asks for later', async () => {
    expect(await handsOver('later', { work: () => later({ delaySeconds: 60 }) })).toBe(true)
  })

  test('when a task that had it but did not start is held', async () => {
    expect(await handsOver('hold', {}, (id) => engine.millrace.hold(id))).toBe(true)
  })

  test('when a task that had it but did not start is canceled', async () => {
    expect(await handsOver('cancel', {}, (id) => engine.millrace.cancel(id))).toBe(true)
  })

  test('when a task that had it but did not start is skipped', async () => {
    expect(await handsOver('skip', {}, (id) => engine.millrace.skip(id))).toBe(true)
  })

  test('when a task that had it but did not start is marked as succeeded', async () => {
    expect(await handsOver('succeed', {}, (id) => engine.millrace.succeed(id))).toBe(true)
  })

  test('when a task that had it but did not start is given a requirement', async () => {
    const end = async (id: string) => engine.millrace.require(id, [await engine.add(aWorker())])
    expect(await handsOver('require', {}, end)).toBe(true)
  })

  test('when its dispatcher dies', async () => {
    const worker = aWorker()
    const first = await engine.add(worker, { locks: ['died'] })
    const second = await engine.add(worker, { locks: ['died'] })
    const dispatcher = await engine.byHand([worker])
    await dispatcher.claim()
    await engine.expire(dispatcher.id)
    // The task that lost it is first in the line again: its work may still go on.
    const { rows } = await engine.pool.query(
      'select id::text, gates_held from millrace.live where id = any($1) order by id',
      [[first, second]],
    )
    expect(rows).toEqual([
      { id: first, gates_held: 1 },
      { id: second, gates_held: 0 },
    ])
    expect((await engine.drain(worker)).performed).toHaveLength(2)
  })

  test('when a canceled one has stopped, and not before', async () => {
    const worker = aWorker()
    const id = await engine.add(worker, { locks: ['stop'] })
    const next = aWorker()
    await engine.add(next, { locks: ['stop'] })
    const dispatcher = await engine.byHand([worker])
    const [run] = await dispatcher.claim()
    await engine.millrace.cancel(id)
    expect((await engine.drain(next)).performed).toEqual([])
    if (run) await dispatcher.perform(run)
    expect((await engine.drain(next)).performed).toHaveLength(1)
  })
})

describe('limits', () => {
  test('at most so many of a group run at once', async () => {
    let running = 0
    let most = 0
    const gate = deferred()
    const worker = aWorker({
      async work() {
        running += 1
        most = Math.max(most, running)
        if (running === 3) gate.resolve()
        await gate.promise
        running -= 1
      },
    })
    const limit = { group: 'three', max: 3 }
    await engine.millrace.addMany(Array.from({ length: 12 }, (_, payload) => ({ worker, payload, limit })))
    const dispatcher = await engine.dispatch([worker], { concurrency: 10 })
    await gate.promise
    await dispatcher.idle()
    expect(most).toBe(3)
    expect((await engine.drain(worker)).performed).toEqual([])
  })

  test('the maximum is what was last asked for', async () => {
    const worker = aWorker()
    const group = 'moving'
    for (let n = 0; n < 4; n += 1) await engine.add(worker, { limit: { group, max: 1 } })
    const dispatcher = await engine.byHand([worker])
    expect(await dispatcher.claim(10)).toHaveLength(1)
    await engine.add(worker, { limit: { group, max: 3 } })
    expect(await dispatcher.claim(10)).toHaveLength(2)
    await engine.expire(dispatcher.id)
    await engine.drain(worker)
  })

  test('the maximum of limits that exist is changed by a pattern, at once and for those that match alone', async () => {
    const worker = aWorker()
    for (const group of ['archive:one', 'archive:one, queue heavy', 'other'])
      for (let n = 0; n < 3; n += 1) await engine.add(worker, { limit: { group, max: 1 } })
    const dispatcher = await engine.byHand([worker])
    expect(await dispatcher.claim(10)).toHaveLength(3)
    await engine.millrace.setLimits('archive:%', 2)
    expect(await dispatcher.claim(10)).toHaveLength(2)
    await expect(engine.millrace.setLimits('archive:%', 0)).rejects.toThrow(InvalidOption)
    await engine.expire(dispatcher.id)
    await engine.drain(worker)
  })

  test('a task that failed, was retried or was asked for later keeps its limit', async () => {
    let isBroken = true
    const worker = aWorker({
      work() {
        if (isBroken) throw new PermanentError('broken')
      },
    })
    const limit = { group: 'kept', max: 1 }
    const ids = [await engine.add(worker, { limit }), await engine.add(worker, { limit })]
    await engine.drain(worker)
    isBroken = false
    await engine.millrace.retry(ids)
    const dispatcher = await engine.byHand([worker])
    const [run, ...others] = await dispatcher.claim(10)
    expect(others).toEqual([])
    if (run) await dispatcher.perform(run)
    await engine.drain(worker)
  })

  test('the maximum is what was last asked for, whoever asked', async () => {
    const worker = aWorker()
    const group = 'of two processes'
    const other = await connect({ databaseUrl: engine.databaseUrl })
    onTestFinished(() => other.close())
    await engine.add(worker, { limit: { group, max: 1 } })
    await other.add(worker, 1, { limit: { group, max: 3 } })
    const dispatcher = await engine.byHand([worker])
    const runs = await dispatcher.claim(10)
    expect(runs).toHaveLength(2)
    await engine.add(worker, { limit: { group, max: 1 } })
    expect(await dispatcher.claim(10)).toEqual([])
    for (const run of runs) await dispatcher.perform(run)
    expect((await engine.drain(worker)).performed).toHaveLength(1)
  })

  test('an add that is refused, or undone by its caller, leaves the maximum as it was', async () => {
    const worker = aWorker()
    const group = 'untouched'
    for (let n = 0; n < 3; n += 1) await engine.add(worker, { limit: { group, max: 1 } })
    const more = { limit: { group, max: 5 } }
    await expect(engine.millrace.add(worker, 1, { ...more, requires: ['999999999'] })).rejects.toThrow(TaskNotFound)
    const client = await engine.pool.connect()
    await client.query('begin')
    await engine.millrace.add(worker, 1, { ...more, client })
    await client.query('rollback')
    client.release()
    const dispatcher = await engine.byHand([worker])
    expect(await dispatcher.claim(10)).toHaveLength(1)
    await engine.expire(dispatcher.id)
    await engine.drain(worker)
  })

  test('a maximum that is asked for while somebody has the limit locked holds from the next claim on', async () => {
    const worker = aWorker()
    const group = 'locked'
    for (let n = 0; n < 3; n += 1) await engine.add(worker, { limit: { group, max: 1 } })
    const client = await engine.pool.connect()
    await client.query('begin')
    await client.query('select from millrace.gate where name = $1 for update', [`limit ${group}`])
    await engine.add(worker, { limit: { group, max: 2 } })
    await engine.add(worker, { limit: { group, max: 4 } })
    await client.query('rollback')
    client.release()
    const dispatcher = await engine.byHand([worker])
    const runs = await dispatcher.claim(10)
    expect(runs).toHaveLength(4)
    for (const run of runs) await dispatcher.perform(run)
    expect((await engine.drain(worker)).performed).toHaveLength(1)
  })

  test('a maximum that is lowered while more are running holds for those that come', async () => {
    const worker = aWorker()
    const group = 'shrinking'
    for (let n = 0; n < 3; n += 1) await engine.add(worker, { limit: { group, max: 3 } })
    const dispatcher = await engine.byHand([worker])
    const runs = await dispatcher.claim(10)
    expect(runs).toHaveLength(3)
    await engine.add(worker, { limit: { group, max: 1 } })
    for (const run of runs) {
      expect(await dispatcher.claim(10)).toEqual([])
      await dispatcher.perform(run)
    }
    expect((await engine.drain(worker)).performed).toHaveLength(1)
  })

  test('a task may have a lock and a limit: neither is overrun, and all get their turn', async () => {
    const running: string[] = []
    const problems: string[] = []
    const worker = aWorker({
      async work({ payload }) {
        if (running.includes(payload) || running.length === 2) problems.push(`${payload} beside ${running.join()}`)
        running.push(payload)
        await new Promise(setImmediate)
        running.splice(running.indexOf(payload), 1)
      },
    })
    const limit = { group: 'both', max: 2 }
    const names = ['p', 'p', 'q', 'p', 'q', 'r']
    const added = await engine.millrace.addMany(names.map((lock) => ({ worker, payload: lock, locks: [lock], limit })))
    const dispatcher = await engine.dispatch([worker])
    while ((await engine.states(...added.map(({ id }) => id))).some((state) => state !== 'succeeded')) {
      await dispatcher.idle()
    }
    expect(problems).toEqual([])
  })
})
