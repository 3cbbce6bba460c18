import { describe, expect, test } from 'vitest'
import { aWorker, mendable, useEngine } from '../../test/engine.ts'
import { StateRefused, UnfinishedWork } from './errors.ts'
import { unchanged } from './worker.ts'

const engine = useEngine()

describe('running again what succeeded', () => {
  test('dependents run again after it, each once, also at the bottom of a diamond', async () => {
    const { worker, ran } = mendable()
    const top = await engine.add(worker, {}, 'top')
    const left = await engine.add(worker, { requires: [top] }, 'left')
    const right = await engine.add(worker, { requires: [top] }, 'right')
    const bottom = await engine.add(worker, { requires: [left, right] }, 'bottom')
    await engine.drain(worker)
    ran.length = 0
    await engine.millrace.rerun(top)
    expect(await engine.states(top, left, right, bottom)).toEqual(['ready', 'succeeded', 'succeeded', 'succeeded'])
    await engine.drain(worker)
    expect(ran).toEqual(['top', 'left', 'right', 'bottom'])
    expect(await engine.states(top, left, right, bottom)).toEqual(Array(4).fill('succeeded'))
  })

  test('stops where a worker answers unchanged', async () => {
    const { worker, ran } = mendable()
    let isSame = false
    const middle = aWorker({ work: () => (isSame ? unchanged('same') : 'other') })
    const top = await engine.add(worker, {}, 'top')
    const mid = await engine.add(middle, { requires: [top] })
    await engine.add(worker, { requires: [mid] }, 'bottom')
    await engine.drain(worker, middle)
    isSame = true
    ran.length = 0
    await engine.millrace.rerun(top)
    await engine.drain(worker, middle)
    expect(ran).toEqual(['top'])
    expect((await engine.millrace.task(mid)).output).toBe('same')
  })

  test('unchanged stops it also when the worker has a callback', async () => {
    const { worker, ran } = mendable()
    const top = aWorker({ work: () => unchanged({ n: 1 }), onSuccess: () => undefined })
    const id = await engine.add(top)
    await engine.add(worker, { requires: [id] }, 'below')
    await engine.drain(top, worker)
    expect(ran).toEqual(['below'])
    await engine.millrace.rerun(id)
    await engine.drain(top, worker)
    expect(ran).toEqual(['below'])
  })

  test('a waiting dependent waits for it again, and its count is right at all times', async () => {
    const { worker } = mendable()
    const [a, b] = [await engine.add(worker, {}, 'a'), await engine.add(aWorker())]
    const dependent = await engine.add(worker, { requires: [a, b] }, 'dependent')
    await engine.drain(worker)
    expect(await engine.unmet(dependent)).toEqual([1])
    await engine.millrace.rerun(a)
    expect(await engine.unmet(dependent)).toEqual([2])
    expect(await engine.millrace.verify()).toEqual([])
    await engine.drain(worker)
    expect(await engine.unmet(dependent)).toEqual([1])
  })

  test('a ready dependent goes back to waiting', async () => {
    const [worker, dependent] = [aWorker(), aWorker()]
    const a = await engine.add(worker)
    const b = await engine.add(dependent, { requires: [a] })
    await engine.drain(worker)
    await engine.millrace.rerun(a)
    expect(await engine.states(b)).toEqual(['waiting'])
    await engine.drain(worker)
    expect(await engine.states(b)).toEqual(['ready'])
  })

  test('a running dependent goes on, and is counted up and down: never below zero, and handed back it is not parked', async () => {
    const [worker, dependent] = [aWorker(), aWorker()]
    const a = await engine.add(worker)
    const b = await engine.add(dependent, { requires: [a] })
    await engine.drain(worker)
    const dispatcher = await engine.byHand([dependent])
    await dispatcher.claim()
    await engine.millrace.rerun(a)
    expect(await engine.unmet(b)).toEqual([1])
    await engine.drain(worker)
    expect(await engine.unmet(b)).toEqual([0])
    await engine.expire(dispatcher.id)
    expect(await engine.states(b)).toEqual(['ready'])
    expect(await engine.millrace.verify()).toEqual([])
  })

  test('a running dependent that ends before the rerun does is run again after it', async () => {
    const [worker, dependent] = [aWorker(), aWorker()]
    const a = await engine.add(worker)
    const b = await engine.add(dependent, { requires: [a] })
    await engine.drain(worker)
    const dispatcher = await engine.byHand([dependent])
    const [run] = await dispatcher.claim()
    await engine.millrace.rerun(a)
    if (run) await dispatcher.perform(run)
    expect(await engine.states(b)).toEqual(['succeeded'])
    await engine.drain(worker)
    expect(await engine.states(b)).toEqual(['ready'])
  })

  test('is refused for what has not succeeded', async () => {
    const id = await engine.add(aWorker())
    await expect(engine.millrace.rerun(id)).rejects.toThrow(StateRefused)
    await engine.millrace.cancel(id)
    await expect(engine.millrace.rerun(id)).rejects.toThrow(StateRefused)
  })
})

describe('running a whole kind again', () => {
  test('is refused while any of it is unfinished', async () => {
    const { worker, ran } = mendable()
    await engine.add(worker, {}, 1)
    await engine.drain(worker)
    const id = await engine.add(worker, { requires: [await engine.add(aWorker())] }, 2)
    await expect(engine.millrace.rerunAll(worker.kind)).rejects.toThrow(UnfinishedWork)
    expect(ran).toEqual([1])
    await engine.millrace.cancel(id)
    expect(await engine.millrace.rerunAll(worker.kind)).toBe(1)
  })

  test('takes those that were created in a range of time', async () => {
    const { worker, ran } = mendable()
    const ids: string[] = []
    for (const n of [1, 2, 3]) ids.push(await engine.add(worker, {}, n))
    await engine.drain(worker)
    ran.length = 0
    const [, second, third] = await Promise.all(ids.map((id) => engine.millrace.task(id)))
    const range = { createdAfter: second?.createdAt as Date, createdBefore: third?.createdAt as Date }
    // Times cross the driver in milliseconds; the three may share one.
    const count = await engine.millrace.rerunAll(worker.kind, range)
    await engine.drain(worker)
    expect(ran).toHaveLength(count)
    expect(ran).not.toContain(3)
    expect(await engine.millrace.rerunAll(worker.kind)).toBe(3)
    expect(await engine.millrace.rerunAll('no.such')).toBe(0)
  })
})
