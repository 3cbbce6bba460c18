import { describe, expect, test } from 'vitest'
import { aWorker, useEngine } from '../../test/engine.ts'
import { StateRefused, TaskNotFound, UnfinishedWork } from './errors.ts'
import { PermanentError } from './work-error.ts'
import { type AnyWorker, unchanged } from './worker.ts'

const engine = useEngine()

/** A worker whose tasks fail while their payload is in `broken`. */
function mendable() {
  const broken = new Set<unknown>()
  const ran: unknown[] = []
  const worker: AnyWorker = aWorker({
    work({ payload }) {
      ran.push(payload)
      if (broken.has(payload)) throw new PermanentError(`${payload} is broken`)
      return payload
    },
  })
  return { worker, broken, ran }
}

describe('what fails', () => {
  test('a permanent error fails the task', async () => {
    const { worker, broken } = mendable()
    broken.add('a')
    const id = await engine.add(worker, {}, 'a')
    await engine.drain(worker)
    expect(await engine.states(id)).toEqual(['failed'])
  })

  test('skips its dependents, which keep counting it as unmet', async () => {
    const { worker, broken } = mendable()
    broken.add('a')
    const a = await engine.add(worker, {}, 'a')
    const b = await engine.add(worker, { requires: [a] }, 'b')
    await engine.drain(worker)
    expect(await engine.millrace.task(b)).toMatchObject({ state: 'skipped', culprit: a })
    expect(await engine.millrace.requirements(b)).toMatchObject([{ id: a, isMet: false }])
  })

  test('skips transitively, and releases instead where the edge says finished', async () => {
    const { worker, broken, ran } = mendable()
    broken.add('a')
    const a = await engine.add(worker, {}, 'a')
    const b = await engine.add(worker, { requires: [a] }, 'b')
    const c = await engine.add(worker, { requires: [b] }, 'c')
    const clean = await engine.add(worker, { requires: [{ task: c, when: 'finished' }] }, 'clean')
    const afterClean = await engine.add(worker, { requires: [clean] }, 'after clean')
    await engine.drain(worker)
    expect(await engine.states(a, b, c, clean, afterClean)).toEqual([
      'failed',
      'skipped',
      'skipped',
      'succeeded',
      'succeeded',
    ])
    expect(ran).toEqual(['a', 'clean', 'after clean'])
    expect((await engine.millrace.task(c)).culprit).toBe(b)
  })

  test('leaves alone what had succeeded before', async () => {
    const { worker, broken } = mendable()
    const a = await engine.add(worker, {}, 'a')
    const b = await engine.add(worker, { requires: [a] }, 'b')
    await engine.drain(worker)
    broken.add('a')
    await engine.millrace.rerun(a)
    await engine.drain(worker)
    expect(await engine.states(a, b)).toEqual(['failed', 'succeeded'])
  })
})

describe('retrying', () => {
  test('one failed requirement out of three: its retry revives the dependent at once, counted anew, and its success readies it', async () => {
    const { worker, broken } = mendable()
    broken.add(1)
    const parts = (await engine.millrace.addMany([1, 2, 3].map((payload) => ({ worker, payload })))).map(({ id }) => id)
    const whole = await engine.add(aWorker(), { requires: parts })
    expect(await engine.unmet(whole)).toEqual([3])
    await engine.drain(worker)
    expect(await engine.states(whole)).toEqual(['skipped'])
    broken.clear()
    await engine.millrace.retry(parts[0] as string)
    expect(await engine.states(whole)).toEqual(['waiting'])
    expect(await engine.unmet(whole)).toEqual([1])
    await engine.drain(worker)
    expect(await engine.states(whole)).toEqual(['ready'])
    expect(await engine.unmet(whole)).toEqual([0])
  })

  test('two failed requirements: the dependent comes back only after both were asked for again', async () => {
    const { worker, broken } = mendable()
    broken.add(1).add(2)
    const [one, two] = (await engine.millrace.addMany([1, 2].map((payload) => ({ worker, payload })))).map(
      ({ id }) => id,
    ) as [string, string]
    const whole = await engine.add(aWorker(), { requires: [one, two] })
    await engine.drain(worker)
    broken.clear()
    await engine.millrace.retry(one)
    expect(await engine.states(whole)).toEqual(['skipped'])
    await engine.drain(worker)
    expect(await engine.states(one, two, whole)).toEqual(['succeeded', 'failed', 'skipped'])
    await engine.millrace.retry(two)
    expect(await engine.states(whole)).toEqual(['waiting'])
    await engine.drain(worker)
    expect(await engine.states(whole)).toEqual(['ready'])
  })

  test('two failed requirements retried in the other order', async () => {
    const { worker, broken } = mendable()
    broken.add(1).add(2)
    const [one, two] = (await engine.millrace.addMany([1, 2].map((payload) => ({ worker, payload })))).map(
      ({ id }) => id,
    ) as [string, string]
    const whole = await engine.add(aWorker(), { requires: [one, two] })
    await engine.drain(worker)
    await engine.millrace.retry(two)
    expect(await engine.states(whole)).toEqual(['skipped'])
    await engine.millrace.retry(one)
    expect(await engine.states(whole)).toEqual(['waiting'])
    expect(await engine.unmet(whole)).toEqual([2])
    broken.clear()
    await engine.drain(worker)
    expect(await engine.states(whole)).toEqual(['ready'])
  })

  test('revives what was skipped at any depth', async () => {
    const { worker, broken, ran } = mendable()
    broken.add('a')
    const a = await engine.add(worker, {}, 'a')
    const b = await engine.add(worker, { requires: [a] }, 'b')
    const c = await engine.add(worker, { requires: [b, a] }, 'c')
    const m = await engine.millrace.addMilestone({ requires: [c] })
    await engine.drain(worker)
    broken.clear()
    await engine.millrace.retry(a)
    expect(await engine.states(a, b, c, m.id)).toEqual(['ready', 'waiting', 'waiting', 'waiting'])
    await engine.drain(worker)
    expect(await engine.states(a, b, c, m.id)).toEqual(['succeeded', 'succeeded', 'succeeded', 'succeeded'])
    expect(ran).toEqual(['a', 'a', 'b', 'c'])
  })

  test('a second failure skips the revived ones again', async () => {
    const { worker, broken } = mendable()
    broken.add('a')
    const a = await engine.add(worker, {}, 'a')
    const b = await engine.add(worker, { requires: [a] }, 'b')
    await engine.drain(worker)
    await engine.millrace.retry(a)
    await engine.drain(worker)
    expect(await engine.states(a, b)).toEqual(['failed', 'skipped'])
  })

  test('a skipped task that is retried itself is skipped again while its culprit stands', async () => {
    const { worker, broken } = mendable()
    broken.add('a')
    const a = await engine.add(worker, {}, 'a')
    const b = await engine.add(worker, { requires: [a] }, 'b')
    await engine.drain(worker)
    await engine.millrace.retry(b)
    expect(await engine.states(b)).toEqual(['skipped'])
  })

  test('what was skipped by hand is not revived by others', async () => {
    const { worker, broken } = mendable()
    broken.add('a')
    const a = await engine.add(worker, {}, 'a')
    const b = await engine.add(worker, { requires: [a] }, 'b')
    await engine.millrace.skip(b)
    await engine.drain(worker)
    await engine.millrace.retry(a)
    expect(await engine.states(b)).toEqual(['skipped'])
  })

  test('several at once', async () => {
    const { worker, broken } = mendable()
    broken.add(1).add(2)
    const ids = (await engine.millrace.addMany([1, 2].map((payload) => ({ worker, payload })))).map(({ id }) => id)
    await engine.drain(worker)
    broken.clear()
    await engine.millrace.retry(ids)
    await engine.drain(worker)
    expect(await engine.states(...ids)).toEqual(['succeeded', 'succeeded'])
  })

  test('a mixed set is refused as a whole, naming the one that is in the way', async () => {
    const { worker, broken } = mendable()
    broken.add(1)
    const [bad, good] = (await engine.millrace.addMany([1, 2].map((payload) => ({ worker, payload })))).map(
      ({ id }) => id,
    ) as [string, string]
    await engine.drain(worker)
    const error = await engine.millrace.retry([bad, good]).catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(StateRefused)
    expect(error).toMatchObject({ task: good, state: 'succeeded' })
    expect(await engine.states(bad, good)).toEqual(['failed', 'succeeded'])
  })

  test('an unknown id is refused and changes nothing', async () => {
    const { worker, broken } = mendable()
    broken.add(1)
    const id = await engine.add(worker, {}, 1)
    await engine.drain(worker)
    await expect(engine.millrace.retry([id, '999999999'])).rejects.toThrow(TaskNotFound)
    expect(await engine.states(id)).toEqual(['failed'])
  })

  test('none at all is nothing', async () => {
    await engine.millrace.retry([])
  })

  test('starts with no failures, and keeps the errors of the attempts before', async () => {
    const { worker, broken } = mendable()
    broken.add('a')
    const id = await engine.add(worker, {}, 'a')
    await engine.drain(worker)
    await engine.millrace.retry(id)
    expect((await engine.millrace.task(id)).failures).toBe(0)
    await engine.drain(worker)
    const attempts = await engine.millrace.attempts(id)
    expect(attempts).toMatchObject([
      { number: 1, outcome: 'failed', error: { message: 'a is broken' } },
      { number: 2, outcome: 'failed', error: { message: 'a is broken' } },
    ])
  })

  test('while a dependent under finished runs, its count is raised and lowered again', async () => {
    const { worker, broken } = mendable()
    broken.add('a')
    const a = await engine.add(worker, {}, 'a')
    const clean = aWorker()
    const id = await engine.add(clean, { requires: [{ task: a, when: 'finished' }] })
    await engine.drain(worker)
    const dispatcher = await engine.byHand([clean])
    const [run] = await dispatcher.claim()
    await engine.millrace.retry(a)
    expect(await engine.unmet(id)).toEqual([1])
    expect(await engine.millrace.verify()).toEqual([])
    await engine.drain(worker)
    expect(await engine.unmet(id)).toEqual([0])
    if (run) expect(await dispatcher.perform(run)).toMatchObject({ outcome: 'succeeded' })
  })
})

describe('marking as succeeded by hand', () => {
  test('revives what was skipped and releases it', async () => {
    const { worker, broken } = mendable()
    broken.add('a')
    const a = await engine.add(worker, {}, 'a')
    const b = await engine.add(worker, { requires: [a] }, 'b')
    const c = await engine.add(worker, { requires: [b] }, 'c')
    await engine.drain(worker)
    await engine.millrace.succeed(a, { actor: 'ada', cause: 'done elsewhere' })
    expect(await engine.millrace.task(a)).toMatchObject({ state: 'succeeded', cause: 'done elsewhere' })
    expect(await engine.states(b, c)).toEqual(['ready', 'waiting'])
    await engine.drain(worker)
    expect(await engine.states(b, c)).toEqual(['succeeded', 'succeeded'])
  })

  test('works on waiting, ready, delayed, held and ended tasks', async () => {
    const { worker, broken } = mendable()
    broken.add('a')
    const failed = await engine.add(worker, {}, 'a')
    await engine.drain(worker)
    const skipped = await engine.add(worker, { requires: [failed] })
    const ready = await engine.add(worker)
    const ids = [
      skipped,
      ready,
      await engine.add(worker, { requires: [ready] }),
      await engine.add(worker, { delaySeconds: 60 }),
      await engine.add(worker, { heldBy: 'ada' }),
      failed,
    ]
    for (const id of ids) await engine.millrace.succeed(id)
    expect(await engine.states(...ids)).toEqual(ids.map(() => 'succeeded'))
  })

  test('is refused for a running task and one that has succeeded', async () => {
    const worker = aWorker()
    const id = await engine.add(worker)
    const dispatcher = await engine.byHand([worker])
    const [run] = await dispatcher.claim()
    await expect(engine.millrace.succeed(id)).rejects.toThrow(StateRefused)
    if (run) await dispatcher.perform(run)
    await expect(engine.millrace.succeed(id)).rejects.toThrow(StateRefused)
  })
})

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
