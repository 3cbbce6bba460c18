import { describe, expect, test } from 'vitest'
import { aWorker, useEngine } from '../../test/engine.ts'
import { CycleRefused, InvalidOption, StateRefused, TaskNotFound } from './errors.ts'
import { PermanentError } from './work-error.ts'
import { type AnyWorker, later } from './worker.ts'

const engine = useEngine()

const failing = () =>
  aWorker({
    work() {
      throw new PermanentError('no')
    },
  })

/** A task of each way to end, and one that waits for it under each condition. */
async function underEachCondition(end: (id: string, worker: AnyWorker) => Promise<void>, worker: AnyWorker) {
  const dependent = aWorker()
  const id = await engine.add(worker)
  const ids = [
    await engine.add(dependent, { requires: [id] }),
    await engine.add(dependent, { requires: [{ task: id, when: 'failed' }] }),
    await engine.add(dependent, { requires: [{ task: id, when: 'finished' }] }),
  ]
  expect(await engine.states(...ids)).toEqual(['waiting', 'waiting', 'waiting'])
  await end(id, worker)
  return engine.states(...ids)
}

const drained = async (_id: string, worker: AnyWorker) => void (await engine.drain(worker))

describe('conditions', () => {
  test('a success releases those that wait for succeeded or finished, and skips those that wait for failed', async () => {
    expect(await underEachCondition(drained, aWorker())).toEqual(['ready', 'skipped', 'ready'])
  })

  test('a failure releases those that wait for failed or finished, and skips those that wait for succeeded', async () => {
    expect(await underEachCondition(drained, failing())).toEqual(['skipped', 'ready', 'ready'])
  })

  test('a cancel releases those that wait for finished, and skips the others', async () => {
    const states = await underEachCondition((id) => engine.millrace.cancel(id), aWorker())
    expect(states).toEqual(['skipped', 'skipped', 'ready'])
  })

  test('a skip releases those that wait for finished, and skips the others', async () => {
    const states = await underEachCondition((id) => engine.millrace.skip(id), aWorker())
    expect(states).toEqual(['skipped', 'skipped', 'ready'])
  })

  test('a task may wait for one other under two conditions', async () => {
    const worker = aWorker()
    const id = await engine.add(worker)
    const both = await engine.add(worker, { requires: [id, { task: id, when: 'finished' }] })
    expect(await engine.unmet(both)).toEqual([2])
    await engine.drain(worker)
    expect(await engine.states(both)).toEqual(['succeeded'])
  })
})

describe('order', () => {
  test('a dependent starts after all of its requirements have ended', async () => {
    const order: number[] = []
    const worker = aWorker({ work: ({ payload }) => void order.push(payload) })
    const items = [
      { worker, payload: 0, requires: [{ item: 1 }, { item: 2 }], priority: -5 },
      { worker, payload: 1, requires: [{ item: 3 }], priority: -4 },
      { worker, payload: 2, requires: [{ item: 3 }] },
      { worker, payload: 3 },
    ]
    await engine.millrace.addMany(items)
    await engine.drain(worker)
    expect(order).toEqual([3, 1, 2, 0])
  })

  test('the count goes down with each requirement that is met', async () => {
    const worker = aWorker()
    const parts = await engine.millrace.addMany([1, 2, 3].map((payload) => ({ worker, payload })))
    const whole = await engine.add(aWorker(), { requires: parts.map(({ id }) => id) })
    const dispatcher = await engine.byHand([worker])
    for (const left of [2, 1, 0]) {
      const [run] = await dispatcher.claim()
      if (run) await dispatcher.perform(run)
      expect(await engine.unmet(whole)).toEqual([left])
    }
    expect(await engine.states(whole)).toEqual(['ready'])
  })
})

describe('adding requirements later', () => {
  test('a ready task goes back to waiting', async () => {
    const [worker, other] = [aWorker(), aWorker()]
    const id = await engine.add(worker)
    const required = await engine.add(other)
    await engine.millrace.require(id, [required])
    expect(await engine.states(id)).toEqual(['waiting'])
    expect((await engine.drain(worker)).performed).toEqual([])
    await engine.drain(other)
    expect(await engine.states(id)).toEqual(['ready'])
  })

  test('a delayed task waits, and is delayed again if its time has not come', async () => {
    const other = aWorker()
    const id = await engine.add(aWorker(), { delaySeconds: 3600 })
    await engine.millrace.require(id, [await engine.add(other)])
    expect(await engine.states(id)).toEqual(['waiting'])
    await engine.drain(other)
    expect(await engine.states(id)).toEqual(['delayed'])
  })

  test('a held task stays held', async () => {
    const other = aWorker()
    const id = await engine.add(aWorker(), { heldBy: 'ada' })
    await engine.millrace.require(id, [await engine.add(other)])
    expect(await engine.states(id)).toEqual(['held'])
    await engine.millrace.release(id)
    expect(await engine.states(id)).toEqual(['waiting'])
    await engine.drain(other)
    expect(await engine.states(id)).toEqual(['ready'])
  })

  test('adding the same one again changes nothing', async () => {
    const id = await engine.add(aWorker())
    const required = await engine.add(aWorker())
    await engine.millrace.require(id, [required])
    await engine.millrace.require(id, [required, { task: required, when: 'succeeded' }])
    expect(await engine.unmet(id)).toEqual([1])
  })

  test('one that has succeeded already adds nothing', async () => {
    const worker = aWorker()
    const required = await engine.add(worker)
    await engine.drain(worker)
    const id = await engine.add(worker)
    await engine.millrace.require(id, [required])
    expect(await engine.states(id)).toEqual(['ready'])
    expect(await engine.millrace.requirements(id)).toMatchObject([{ id: required, isMet: true }])
  })

  test('one that has failed already skips the task', async () => {
    const worker = failing()
    const required = await engine.add(worker)
    await engine.drain(worker)
    const id = await engine.add(aWorker())
    await engine.millrace.require(id, [required])
    expect(await engine.millrace.task(id)).toMatchObject({ state: 'skipped', culprit: required })
  })

  test('a task that has ended is refused', async () => {
    const worker = aWorker()
    const id = await engine.add(worker)
    await engine.drain(worker)
    const required = await engine.add(aWorker())
    await expect(engine.millrace.require(id, [required])).rejects.toThrow(StateRefused)
    expect(await engine.millrace.requirements(id)).toEqual([])
  })

  test('a task that someone else runs is refused', async () => {
    const worker = aWorker()
    const id = await engine.add(worker)
    const dispatcher = await engine.byHand([worker])
    const [run] = await dispatcher.claim()
    const required = await engine.add(aWorker())
    await expect(engine.millrace.require(id, [required])).rejects.toThrow(StateRefused)
    if (run) await dispatcher.perform(run)
  })

  test('a missing task, on either side, is refused', async () => {
    const id = await engine.add(aWorker())
    await expect(engine.millrace.require(id, ['999999999'])).rejects.toThrow(TaskNotFound)
    await expect(engine.millrace.require('999999999', [id])).rejects.toThrow(TaskNotFound)
    await expect(engine.millrace.require(id, [{ task: id, when: 'done' as never }])).rejects.toThrow(InvalidOption)
    expect(await engine.millrace.requirements(id)).toEqual([])
  })
})

describe('cycles', () => {
  test('a task that would wait for itself is refused', async () => {
    const id = await engine.add(aWorker())
    await expect(engine.millrace.require(id, [id])).rejects.toThrow(CycleRefused)
  })

  test('a cycle through existing tasks is refused, naming the path', async () => {
    const worker = aWorker()
    const a = await engine.add(worker)
    const b = await engine.add(worker, { requires: [a] })
    const c = await engine.add(worker, { requires: [b] })
    const before = await engine.rows()
    const error = await engine.millrace.require(a, [c]).catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(CycleRefused)
    expect((error as CycleRefused).path).toEqual([a, b, c, a])
    expect(await engine.rows()).toEqual(before)
    expect((await engine.drain(worker)).performed).toHaveLength(3)
  })

  test('a cycle through a task that has succeeded is refused, for it may be run again', async () => {
    const worker = aWorker()
    const a = await engine.add(worker)
    const b = await engine.add(worker, { requires: [a] })
    await engine.millrace.succeed(b)
    await expect(engine.millrace.require(a, [b])).rejects.toMatchObject({ code: 'cycle', path: [a, b, a] })
    await engine.millrace.rerun(b)
    expect((await engine.drain(worker)).performed.map(({ id }) => id)).toEqual([a, b])
  })

  test.each([
    { above: 300, below: 2 },
    { above: 2, below: 300 },
    { above: 300, below: 300 },
  ])('a cycle is found with $above tasks above what is required and $below below what requires it', async (wide) => {
    const worker = aWorker()
    const addAll = async (items: readonly { requires?: (string | { item: number })[] }[]) =>
      (await engine.millrace.addMany(items.map((item) => ({ worker, payload: 1, ...item })))).map(({ id }) => id)
    const above = await addAll(Array.from({ length: wide.above }, () => ({})))
    const [top, ...way] = (await addAll([
      {},
      ...Array.from({ length: 5 }, (_, i) => ({ requires: i < 4 ? [{ item: i }] : [{ item: i }, ...above] })),
    ])) as [string, ...string[]]
    const [free] = (await addAll([{}])) as [string]
    for (const id of [top, free]) await addAll(Array.from({ length: wide.below }, () => ({ requires: [id] })))
    const bottom = way.at(-1) as string
    const path = [top, ...way, top]
    await expect(engine.millrace.require(top, [bottom])).rejects.toMatchObject({ code: 'cycle', path })
    await engine.millrace.require(free, [bottom])
    expect(await engine.unmet(free)).toEqual([1])
  })

  test('a cycle that a worker asks for fails the task, naming the path', async () => {
    const worker: AnyWorker = aWorker({ work: ({ payload }) => (payload === 'top' ? later({ requires: [below] }) : 1) })
    const top = await engine.add(worker, {}, 'top')
    const below = await engine.add(worker, { requires: [top] })
    const { performed } = await engine.drain(worker)
    expect(performed).toMatchObject([
      {
        id: top,
        outcome: 'failed',
        error: { name: 'Error', message: expect.stringContaining(`${top} -> ${below} -> ${top}`) },
      },
    ])
    expect(await engine.states(top, below)).toEqual(['failed', 'skipped'])
  })

  test('three additions that cross each other do not deadlock', async () => {
    const worker = aWorker()
    for (let round = 0; round < 10; round += 1) {
      const [a, b, c] = (await engine.millrace.addMany([1, 2, 3].map((payload) => ({ worker, payload })))).map(
        ({ id }) => id,
      ) as [string, string, string]
      await Promise.all([
        engine.millrace.require(a, [b]),
        engine.millrace.require(a, [c]),
        engine.millrace.require(b, [c]),
      ])
      expect(await engine.unmet(a, b, c)).toEqual([2, 1, 0])
    }
    expect((await engine.drain(worker)).performed).toHaveLength(30)
  })
})

describe('from the running task itself', () => {
  test('requirements that a worker adds while it runs are waited for, and then it runs again', async () => {
    const seen: string[] = []
    const part = aWorker({ work: () => void seen.push('part') })
    const whole: AnyWorker = aWorker({
      work: () => {
        seen.push('whole')
        return seen.includes('part') ? 'done' : later()
      },
      async onReschedule(tx, task) {
        const added = await tx.addMany([1, 2, 3].map((payload) => ({ worker: part, payload })))
        await tx.require(
          task.id,
          added.map(({ id }) => id),
        )
      },
    })
    const id = await engine.add(whole)
    expect((await engine.drain(whole)).performed).toMatchObject([{ outcome: 'later', state: 'waiting' }])
    expect(await engine.unmet(id)).toEqual([3])
    await engine.drain(whole, part)
    expect(seen).toEqual(['whole', 'part', 'part', 'part', 'whole'])
  })

  test('requirements for which the worker succeeds nevertheless do not hold it back', async () => {
    const part = aWorker()
    const whole = aWorker({
      async onSuccess(tx, task) {
        const { id } = await tx.add(part, 1)
        await tx.require(task.id, [id])
      },
    })
    const id = await engine.add(whole)
    const dependent = await engine.add(aWorker(), { requires: [id] })
    await engine.drain(whole)
    expect(await engine.states(id, dependent)).toEqual(['succeeded', 'ready'])
    await engine.drain(part)
    expect(await engine.states(id, dependent)).toEqual(['succeeded', 'ready'])
  })

  test('each number of Fibonacci is computed once, however many ask for it', async () => {
    const computed: number[] = []
    const results = new Map<number, number>()
    const fibonacci: AnyWorker = aWorker({
      work({ payload: n }) {
        if (n < 2) results.set(n, n)
        const [one, two] = [results.get(n - 1), results.get(n - 2)]
        if (n >= 2 && (one === undefined || two === undefined)) return later()
        if (one !== undefined && two !== undefined) results.set(n, one + two)
        computed.push(n)
        return results.get(n)
      },
      async onReschedule(tx, task) {
        const added = await tx.addMany(
          [task.payload - 1, task.payload - 2].map((n) => ({ worker: fibonacci, payload: n, key: `fibonacci ${n}` })),
        )
        await tx.require(
          task.id,
          added.map(({ id }) => id),
        )
      },
    })
    const id = await engine.add(fibonacci, { key: 'fibonacci 10' }, 10)
    const { counts } = await engine.drain(fibonacci)
    expect((await engine.millrace.task(id)).output).toBe(55)
    expect(computed.sort((a, b) => a - b)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
    expect(counts).toMatchObject({ succeeded: 11, failed: 0, retry: 0 })
    expect((await engine.millrace.attempts(id)).every(({ error }) => error === null)).toBe(true)
  })
})

describe('milestones', () => {
  test('a milestone without requirements succeeds at once', async () => {
    const { id } = await engine.millrace.addMilestone()
    expect(await engine.millrace.task(id)).toMatchObject({ state: 'succeeded', kind: null, queue: null })
  })

  test('a milestone succeeds by itself the moment its requirements are met', async () => {
    const [worker, after] = [aWorker(), aWorker()]
    const ids = [await engine.add(worker), await engine.add(worker)]
    const { id } = await engine.millrace.addMilestone({ requires: ids })
    const next = await engine.add(after, { requires: [id] })
    const dispatcher = await engine.byHand([worker])
    for (const run of await dispatcher.claim(2)) {
      expect(await engine.states(id, next)).toEqual(['waiting', 'waiting'])
      await dispatcher.perform(run)
    }
    expect(await engine.states(id, next)).toEqual(['succeeded', 'ready'])
  })

  test('a chain of milestones falls in one go', async () => {
    const [worker, after] = [aWorker(), aWorker()]
    const first = await engine.add(worker)
    const count = 200
    const chain = await engine.millrace.addMany(
      Array.from({ length: count }, (_, i) => ({
        milestone: true as const,
        requires: i === 0 ? [first] : [{ item: i - 1 }],
      })),
    )
    const last = await engine.add(after, { requires: [chain.at(-1)?.id as string] })
    const { performed } = await engine.drain(worker, after)
    expect(performed.map(({ id }) => id)).toEqual([first, last])
  })

  test('a milestone is skipped when a requirement fails, and so is what waits for it', async () => {
    const worker = failing()
    const first = await engine.add(worker)
    const one = await engine.millrace.addMilestone({ requires: [first] })
    const two = await engine.millrace.addMilestone({ requires: [one.id] })
    const clean = await engine.millrace.addMilestone({ requires: [{ task: two.id, when: 'finished' }] })
    await engine.drain(worker)
    expect(await engine.states(one.id, two.id, clean.id)).toEqual(['skipped', 'skipped', 'succeeded'])
  })

  test('a held milestone succeeds when it is released', async () => {
    const { id } = await engine.millrace.addMilestone({ heldBy: 'ada' })
    expect(await engine.states(id)).toEqual(['held'])
    await engine.millrace.release(id)
    expect(await engine.states(id)).toEqual(['succeeded'])
  })

  test('a delayed milestone succeeds when its time has come', async () => {
    const { id } = await engine.millrace.addMilestone({ delaySeconds: 3600 })
    expect(await engine.states(id)).toEqual(['delayed'])
    await engine.pool.query('update millrace.live set not_before = clock_timestamp() where id = $1', [id])
    await engine.drain(aWorker())
    expect(await engine.states(id)).toEqual(['succeeded'])
  })
})
