import { describe, expect, test } from 'vitest'
import { aWorker, deferred, expectRefusal, throwing, useEngine } from '../../test/engine.ts'
import { CycleRefused, StateRefused, TaskNotFound } from './errors.ts'
import { PermanentError } from './work-error.ts'

const engine = useEngine()

/** Two tasks that could start, and one that waits for the first. */
async function aDependent(options: Parameters<typeof engine.add>[1] = {}) {
  const worker = aWorker()
  const first = await engine.add(worker)
  const second = await engine.add(aWorker())
  const dependent = await engine.add(aWorker(), { requires: [first], ...options })
  return { worker, first, second, dependent }
}

describe('a task that has not started', () => {
  test('waits for its new requirements and no longer for those of before', async () => {
    const { worker, first, second, dependent } = await aDependent()
    await engine.millrace.rewire(dependent, [second])
    await engine.drain(worker)
    expect(await engine.states(first, dependent)).toEqual(['succeeded', 'waiting'])
    await engine.millrace.succeed(second)
    expect(await engine.states(dependent)).toEqual(['ready'])
  })

  test('is ready when it is left without requirements', async () => {
    const { dependent } = await aDependent()
    await engine.millrace.rewire(dependent, [])
    expect(await engine.states(dependent)).toEqual(['ready'])
    expect(await engine.story(dependent)).toContain('rewired')
  })

  test('waits again when it was ready', async () => {
    const { worker, second, dependent } = await aDependent()
    await engine.drain(worker)
    expect(await engine.states(dependent)).toEqual(['ready'])
    await engine.millrace.rewire(dependent, [{ task: second, when: 'finished' }])
    expect(await engine.states(dependent)).toEqual(['waiting'])
    await engine.millrace.cancel(second)
    expect(await engine.states(dependent)).toEqual(['ready'])
  })

  test('is skipped at once when a new requirement cannot be met', async () => {
    const { dependent } = await aDependent()
    const broken = throwing(() => new PermanentError('no'))
    const failed = await engine.add(broken)
    await engine.drain(broken)
    await engine.millrace.rewire(dependent, [failed])
    expect(await engine.states(dependent)).toEqual(['skipped'])
  })

  test('keeps being held, and goes on by its new requirements when it is released', async () => {
    const { first, second, dependent } = await aDependent({ heldBy: 'someone' })
    await engine.millrace.rewire(dependent, [second])
    await engine.millrace.succeed(second)
    expect(await engine.states(dependent)).toEqual(['held'])
    await engine.millrace.release(dependent)
    expect(await engine.states(first, dependent)).toEqual(['ready', 'ready'])
  })

  test('is not skipped for a requirement of before that fails', async () => {
    const { first, second, dependent } = await aDependent()
    await engine.millrace.rewire(dependent, [second])
    await engine.millrace.cancel(first)
    expect(await engine.states(dependent)).toEqual(['waiting'])
  })
})

describe('refusals', () => {
  test('a running task and one that is over keep their requirements', async () => {
    const { second } = await aDependent()
    const goOn = deferred()
    const started = deferred()
    const worker = aWorker({
      work() {
        started.resolve()
        return goOn.promise
      },
    })
    const id = await engine.add(worker)
    await engine.dispatch([worker])
    await started.promise
    await expectRefusal(engine, () => engine.millrace.rewire(id, [second]), StateRefused)
    goOn.resolve()
    await expect.poll(() => engine.states(id)).toEqual(['succeeded'])
    await expectRefusal(engine, () => engine.millrace.rewire(id, [second]), StateRefused)
  })

  test('a cycle is refused, naming the path, and the requirements stay', async () => {
    const { worker, first, dependent } = await aDependent()
    await expectRefusal(engine, () => engine.millrace.rewire(first, [dependent]), CycleRefused)
    await expectRefusal(engine, () => engine.millrace.rewire(first, [first]), CycleRefused)
    await engine.drain(worker)
    expect(await engine.states(dependent)).toEqual(['ready'])
  })

  test('an edge that is replaced does not count towards a cycle', async () => {
    const { first, second, dependent } = await aDependent()
    await engine.millrace.rewire(dependent, [])
    await engine.millrace.rewire(first, [dependent])
    expect(await engine.states(first, second)).toEqual(['waiting', 'ready'])
  })

  test('a task that does not exist is refused by name', async () => {
    const { first } = await aDependent()
    await expectRefusal(engine, () => engine.millrace.rewire('999999', [first]), TaskNotFound)
    await expectRefusal(engine, () => engine.millrace.rewire(first, ['999999']), TaskNotFound)
  })
})

test('tasks that are kept from starting start when the transaction is over', async () => {
  const worker = aWorker()
  const id = await engine.add(worker)
  const client = await engine.pool.connect()
  try {
    await client.query('begin')
    expect(await engine.millrace.keepFromStarting([id], { client })).toEqual([id])
    expect((await engine.drain(worker)).performed).toEqual([])
  } finally {
    await client.query('rollback')
    client.release()
  }
  expect((await engine.drain(worker)).performed).toHaveLength(1)
})

test('what is over can be left out when tasks are canceled or skipped', async () => {
  const worker = aWorker()
  const over = await engine.add(worker)
  await engine.drain(worker)
  const open = [await engine.add(worker), await engine.add(worker)] as const
  await expectRefusal(engine, () => engine.millrace.cancel([over, open[0]]), StateRefused)
  await engine.millrace.cancel([over, open[0]], { ignoreEnded: true })
  await engine.millrace.skip([over, open[1]], { ignoreEnded: true })
  expect(await engine.states(over, ...open)).toEqual(['succeeded', 'canceled', 'skipped'])
})
