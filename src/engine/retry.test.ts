import { describe, expect, test } from 'vitest'
import { aWorker, mendable, useEngine } from '../../test/engine.ts'
import { StateRefused, TaskNotFound } from './errors.ts'

const engine = useEngine()

/** Requirements of the task that are not met, which are told of skipped ones too. */
const unmetOf = async (id: string) => (await engine.millrace.requirements(id)).filter(({ isMet }) => !isMet).length

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
    const dispatcher = await engine.byHand([worker])
    const counts = [await unmetOf(whole)]
    for (const run of await dispatcher.claim(3)) {
      await dispatcher.perform(run)
      counts.push(await unmetOf(whole))
      expect(await engine.states(whole)).toEqual(['skipped'])
    }
    expect(counts).toEqual([3, 3, 2, 1])
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
