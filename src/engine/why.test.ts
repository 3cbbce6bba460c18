import { describe, expect, test } from 'vitest'
import { aWorker, deferred, mendable, useEngine } from '../../test/engine.ts'
import { waitFor } from '../../test/processes.ts'
import { snapshot } from '../db/index.ts'
import { TaskNotFound } from './errors.ts'
import { read } from './read.ts'
import { whyOf } from './why.ts'
import { TransientError } from './work-error.ts'

const engine = useEngine()

const why = (id: string) => engine.millrace.why(id)

describe('waiting', () => {
  test('names what it waits for, and in which state that is', async () => {
    const worker = aWorker()
    const plain = await engine.add(worker)
    const keyed = await engine.add(worker, { scope: 'archive:My-Project', key: '2:indexing', heldBy: 'ada' })
    const { id: milestone } = await engine.millrace.addMilestone({ requires: [plain] })
    const id = await engine.add(worker, {
      requires: [plain, { task: keyed, when: 'finished' }, { task: milestone, when: 'failed' }],
    })
    expect(await why(id)).toEqual({
      sentence: `waits for task ${plain} (${worker.kind}), ready; for My-Project@2:indexing (task ${keyed}) to finish, held; for milestone ${milestone} to fail, waiting`,
      culprits: [plain, keyed, milestone],
    })
  })

  test('says how long and where a running one has been running', async () => {
    const worker = aWorker()
    const id = await engine.add(worker, { requires: [await engine.add(worker)] })
    const dispatcher = await engine.byHand([worker], { name: 'host a' })
    const [run] = await dispatcher.claim()
    expect((await why(id)).sentence).toMatch(/running for \d+ s on host a$/)
    if (run) await dispatcher.perform(run)
    await engine.drain(worker)
  })

  test('names the first few of many', async () => {
    const worker = aWorker()
    const parts = await engine.millrace.addMany(Array.from({ length: 10 }, (_, payload) => ({ worker, payload })))
    const { sentence, culprits } = await why(await engine.add(worker, { requires: parts.map(({ id }) => id) }))
    expect(culprits).toHaveLength(3)
    expect(sentence).toContain('and 7 more')
  })
})

describe('ready', () => {
  test('says when nobody could take it', async () => {
    const worker = aWorker({ queue: 'lonely' })
    const { sentence } = await why(await engine.add(worker))
    expect(sentence).toBe(`no dispatcher takes kind "${worker.kind}" from queue "lonely" at present`)
  })

  test('says how many are ahead of it', async () => {
    const worker = aWorker()
    const ids = [await engine.add(worker), await engine.add(worker), await engine.add(worker)]
    await engine.byHand([worker])
    expect((await why(ids[0] as string)).sentence).toBe('is ready; it is the next one')
    expect((await why(ids[1] as string)).sentence).toBe('is ready; 1 task is ahead of it')
    expect((await why(ids[2] as string)).sentence).toBe('is ready; 2 tasks are ahead of it')
  })

  test('names the lock it lacks and who has it', async () => {
    const worker = aWorker()
    const first = await engine.add(worker, { locks: ['archive:A'] })
    const second = await engine.add(worker, { locks: ['archive:A'] })
    expect(await why(second)).toEqual({
      sentence: `waits for the lock of archive A, held by task ${first} (${worker.kind})`,
      culprits: [first],
    })
  })

  test('names the limit that is full', async () => {
    const worker = aWorker()
    const limit = { group: 'heavy jobs', max: 1 }
    const first = await engine.add(worker, { limit })
    const second = await engine.add(worker, { limit })
    expect((await why(second)).sentence).toBe(
      `waits for a place of "heavy jobs" (1 at once), held by task ${first} (${worker.kind})`,
    )
  })

  test('names the archive whose places are taken, and the tasks that hold them', async () => {
    const worker = aWorker()
    const scope = 'archive:My-Project'
    const limit = { group: scope, max: 4 }
    const ids: string[] = []
    for (let rev = 1; rev <= 5; rev += 1) ids.push(await engine.add(worker, { scope, limit, key: `${rev}:build` }))
    const named = ids.slice(0, 3).map((id, i) => `My-Project@${i + 1}:build (task ${id})`)
    expect(await why(ids[4] as string)).toEqual({
      sentence: `waits for a place of archive My-Project (4 at once), held by ${named.join(', ')}, and 1 more`,
      culprits: ids.slice(0, 3),
    })
  })

  test('says that every dispatcher is full, and whose tasks fill it', async () => {
    const gate = deferred()
    const worker = aWorker({ work: () => gate.promise })
    const running = [
      await engine.add(worker, { scope: 'archive:My-Project' }),
      await engine.add(worker, { scope: 'archive:My-Project' }),
      await engine.add(worker, { scope: 'node' }),
    ]
    const dispatcher = await engine.dispatch([worker], { concurrency: 3, fair: true, name: 'vm:8400' })
    await waitFor(async () => ((await engine.states(...running)).every((s) => s === 'running') ? true : undefined))
    const id = await engine.add(worker, { scope: 'other' })
    expect(await why(id)).toEqual({
      sentence: 'waits for a free place: all 3 places of vm:8400 are taken, by My-Project 2, node 1',
      culprits: [running[0], running[2]],
    })
    const second = await engine.byHand([worker], { name: 'by hand' })
    expect((await why(id)).sentence).toBe('is ready; it is the next one')
    await second.unregister()
    gate.resolve()
    await dispatcher.idle()
  })
})

test('delayed: until when, and after how many failures', async () => {
  const worker = aWorker({
    work() {
      throw new TransientError('busy', { retryAfterSeconds: 600 })
    },
  })
  const notBefore = new Date('2199-01-01T00:00:00.000Z')
  const planned = await engine.add(worker, { notBefore })
  expect((await why(planned)).sentence).toBe('is not to start before 2199-01-01T00:00:00.000Z')
  const failed = await engine.add(worker)
  await engine.drain(worker)
  expect((await why(failed)).sentence).toMatch(/^is not to start before .*, after 1 failed attempt$/)
})

test('held: by whom', async () => {
  expect((await why(await engine.add(aWorker(), { heldBy: 'ada' }))).sentence).toBe(
    'is held by ada until it is released',
  )
  const id = await engine.add(aWorker())
  await engine.millrace.hold(id)
  expect((await why(id)).sentence).toBe('is held until it is released')
})

test('running: where and since when, and that it was asked to stop', async () => {
  const worker = aWorker()
  const id = await engine.add(worker)
  const dispatcher = await engine.byHand([worker], { name: 'host b' })
  const [run] = await dispatcher.claim()
  expect((await why(id)).sentence).toMatch(/^is running on host b since \d{4}-.*Z$/)
  await engine.millrace.cancel(id)
  expect((await why(id)).sentence).toMatch(/^was asked to stop on host b since \S+$/)
  if (run) await dispatcher.perform(run)
})

test('ended: how, and by whose fault', async () => {
  const { worker, broken } = mendable()
  broken.add('a')
  const good = await engine.add(worker, {}, 'good')
  const bad = await engine.add(worker, {}, 'a')
  const skipped = await engine.add(worker, { requires: [bad] })
  const canceled = await engine.add(aWorker())
  const superseding = await engine.add(aWorker(), { cancels: [canceled] })
  const skippedByHand = await engine.add(aWorker())
  const byHand = await engine.add(aWorker())
  await engine.drain(worker)
  await engine.millrace.skip(skippedByHand, { cause: 'not needed' })
  await engine.millrace.succeed(byHand, { cause: 'done elsewhere' })
  expect(await why(good)).toEqual({ sentence: 'succeeded', culprits: [] })
  expect(await why(byHand)).toEqual({ sentence: 'succeeded (done elsewhere)', culprits: [] })
  expect(await why(bad)).toEqual({ sentence: 'failed: a is broken', culprits: [] })
  expect(await why(skipped)).toEqual({
    sentence: `was skipped, because task ${bad} (${worker.kind}) failed`,
    culprits: [bad],
  })
  expect(await why(canceled)).toEqual({
    sentence: `was canceled: superseded by task ${superseding}`,
    culprits: [superseding],
  })
  expect(await why(skippedByHand)).toEqual({ sentence: 'was skipped by hand (not needed)', culprits: [] })
})

test('canceled with a cause says it once', async () => {
  const id = await engine.add(aWorker())
  await engine.millrace.cancel(id, { cause: 'not wanted' })
  expect((await why(id)).sentence).toBe('was canceled: not wanted')
})

test('of a task that does not exist is refused', async () => {
  await expect(why('999999999')).rejects.toThrow(TaskNotFound)
  await expect(engine.millrace.why({ scope: 'none', key: 'none' })).rejects.toThrow('none of scope none')
})

test('of a supersession that waits for a running one names it', async () => {
  const worker = aWorker()
  const earlier = await engine.add(worker)
  const dispatcher = await engine.byHand([worker])
  const [run] = await dispatcher.claim()
  const later = await engine.add(worker, { cancels: [earlier] })
  expect(await why(later)).toMatchObject({
    sentence: expect.stringContaining(`waits for task ${earlier} (${worker.kind}) to stop, running`),
    culprits: [earlier],
  })
  if (run) await dispatcher.perform(run)
})

test('of a task that ends while it is looked at is of the moment when the look began', async () => {
  const worker = aWorker()
  const first = await engine.add(worker)
  const id = await engine.add(worker, { requires: [first] })
  const said = await snapshot(engine.pool, async (db) => {
    const task = await read(db, id)
    await engine.drain(worker)
    return whyOf(db, task)
  })
  expect(said.sentence).toBe(`waits for task ${first} (${worker.kind}), ready`)
  expect(await why(id)).toEqual({ sentence: 'succeeded', culprits: [] })
})
