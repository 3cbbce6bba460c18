import { describe, expect, test } from 'vitest'
import { aWorker, deferred, useEngine } from '../../test/engine.ts'
import { InvalidOption, StateRefused, TaskNotFound } from './errors.ts'
import type { WorkStopped } from './run.ts'
import type { AnyWorker } from './worker.ts'

const engine = useEngine()

/** A worker that tells when it begins, and ends when told to or when its signal says so. */
function patient(of: Partial<AnyWorker> = {}, ignoresSignal = false) {
  const begun = deferred()
  const end = deferred<unknown>()
  const stopped = deferred<WorkStopped>()
  const worker = aWorker({
    work({ signal }) {
      begun.resolve()
      signal.addEventListener('abort', () => {
        stopped.resolve(signal.reason)
        if (!ignoresSignal) end.reject(signal.reason)
      })
      return end.promise
    },
    ...of,
  })
  return { worker, begun: begun.promise, end, stopped: stopped.promise }
}

describe('what does not run', () => {
  test('is canceled at once, whether it waits, is ready, delayed or held', async () => {
    const worker = aWorker()
    const required = await engine.add(aWorker())
    const ids = [
      await engine.add(worker, { requires: [required] }),
      await engine.add(worker),
      await engine.add(worker, { delaySeconds: 60 }),
      await engine.add(worker, { heldBy: 'ada' }),
    ]
    await engine.millrace.cancel(ids, { cause: 'not wanted', actor: 'ada' })
    for (const id of ids) {
      expect(await engine.millrace.task(id)).toMatchObject({
        state: 'canceled',
        cause: 'not wanted',
        supersededBy: null,
      })
    }
    expect((await engine.drain(worker)).performed).toEqual([])
  })

  test('skips what depends on its success', async () => {
    const worker = aWorker()
    const id = await engine.add(worker)
    const dependent = await engine.add(worker, { requires: [id] })
    const clean = await engine.add(worker, { requires: [{ task: dependent, when: 'finished' }] })
    await engine.millrace.cancel(id)
    expect(await engine.states(dependent, clean)).toEqual(['skipped', 'ready'])
    expect((await engine.millrace.task(dependent)).culprit).toBe(id)
  })

  test('can be asked for again, and revives what was skipped', async () => {
    const worker = aWorker()
    const id = await engine.add(worker)
    const dependent = await engine.add(worker, { requires: [id] })
    await engine.millrace.cancel(id)
    await engine.millrace.retry(id)
    expect(await engine.states(id, dependent)).toEqual(['ready', 'waiting'])
  })

  test('that has ended is refused, and then none is canceled', async () => {
    const worker = aWorker()
    const done = await engine.add(worker)
    await engine.drain(worker)
    const id = await engine.add(worker)
    await expect(engine.millrace.cancel([id, done])).rejects.toThrow(StateRefused)
    await expect(engine.millrace.cancel([id, '999999999'])).rejects.toThrow(TaskNotFound)
    await expect(engine.millrace.cancel(id, { cause: 'a\u0000' })).rejects.toThrow(InvalidOption)
    expect(await engine.states(id)).toEqual(['ready'])
  })
})

describe('what runs', () => {
  test('has its signal aborted, and is canceled only once its work has returned', async () => {
    const { worker, begun, end, stopped } = patient({}, true)
    const id = await engine.add(worker)
    const dispatcher = await engine.dispatch([worker])
    await begun
    await engine.millrace.cancel(id, { cause: 'enough', actor: 'ada' })
    const reason = await stopped
    expect(reason.code).toBe('canceled')
    expect(await engine.millrace.task(id)).toMatchObject({ state: 'running', isCanceling: true, cause: 'enough' })
    end.reject(reason)
    await dispatcher.idle()
    expect(await engine.millrace.task(id)).toMatchObject({ state: 'canceled', cause: 'enough', isCanceling: false })
  })

  test('and ignores the signal ends canceled, and its result and effects are not kept', async () => {
    await engine.pool.query('create table if not exists effects (task text)')
    const child = aWorker()
    const { worker, begun, end, stopped } = patient(
      {
        async onSuccess(tx, task) {
          await tx.query('insert into effects values ($1)', [task.id])
          await tx.add(child, 1)
        },
      },
      true,
    )
    const id = await engine.add(worker)
    const dispatcher = await engine.dispatch([worker])
    await begun
    await engine.millrace.cancel(id)
    await stopped
    end.resolve({ result: 'precious' })
    await dispatcher.idle()
    expect(await engine.millrace.task(id)).toMatchObject({ state: 'canceled', output: null })
    expect((await engine.pool.query('select from effects')).rows).toEqual([])
    expect((await engine.drain(child)).performed).toEqual([])
  })

  test('without callbacks, ignoring the signal, ends canceled too', async () => {
    const { worker, begun, end, stopped } = patient({}, true)
    const id = await engine.add(worker)
    const dispatcher = await engine.dispatch([worker])
    await begun
    await engine.millrace.cancel(id)
    await stopped
    end.resolve('precious')
    await dispatcher.idle()
    expect(await engine.millrace.task(id)).toMatchObject({ state: 'canceled', output: null })
  })

  test('and fails on its own after the cancel ends canceled, not failed', async () => {
    const { worker, begun, end, stopped } = patient({}, true)
    const id = await engine.add(worker)
    const dispatcher = await engine.dispatch([worker])
    await begun
    await engine.millrace.cancel(id)
    await stopped
    end.reject(new Error('something else'))
    await dispatcher.idle()
    expect(await engine.states(id)).toEqual(['canceled'])
  })

  test('finds its signal aborted when it looks late', async () => {
    const go = deferred()
    const begun = deferred()
    const seen = deferred<unknown>()
    const worker = aWorker({
      async work(context) {
        begun.resolve()
        await go.promise
        seen.resolve(context.signal.reason?.code)
      },
    })
    const other = patient()
    await engine.add(worker)
    const otherId = await engine.add(other.worker)
    const dispatcher = await engine.dispatch([worker, other.worker])
    await Promise.all([begun.promise, other.begun])
    const { rows } = await engine.pool.query(`select id from millrace.live where state = 'running'`)
    await engine.millrace.cancel(rows.map((row) => row.id))
    // Both are told together: when the one has heard, the other's signal is aborted, too.
    await other.stopped
    go.resolve()
    expect(await seen.promise).toBe('canceled')
    await dispatcher.idle()
    expect(await engine.states(otherId)).toEqual(['canceled'])
  })

  test('is asked once, however often it is canceled', async () => {
    const worker = aWorker()
    const id = await engine.add(worker)
    const dispatcher = await engine.byHand([worker])
    const [run] = await dispatcher.claim()
    await engine.millrace.cancel(id, { cause: 'first' })
    await engine.millrace.cancel(id, { cause: 'second' })
    if (run) expect(await dispatcher.perform(run)).toMatchObject({ outcome: 'canceled', state: 'canceled' })
    expect((await engine.millrace.task(id)).cause).toBe('first')
    expect((await engine.story(id)).filter((name) => name === 'cancel_requested')).toHaveLength(1)
  })

  test('and asks for later, or fails for a while, ends canceled instead', async () => {
    const worker = aWorker()
    for (const outcome of ['later', 'retry', 'handed_back', 'lease_lost']) {
      const id = await engine.add(worker)
      const dispatcher = await engine.byHand([worker])
      const [run] = await dispatcher.claim()
      await engine.millrace.cancel(id)
      await engine.pool.query(`select millrace.requeue($1, array[$2::bigint], array[$3::int], $4, null, null)`, [
        dispatcher.id,
        id,
        run?.epoch,
        outcome,
      ])
      expect(await engine.states(id)).toEqual(['canceled'])
    }
  })

  test('on a dispatcher that dies is canceled when its lease has run out', async () => {
    const worker = aWorker()
    const id = await engine.add(worker)
    const dispatcher = await engine.byHand([worker])
    await dispatcher.claim()
    await engine.millrace.cancel(id, { cause: 'enough' })
    await engine.expire(dispatcher.id)
    expect(await engine.millrace.task(id)).toMatchObject({ state: 'canceled', cause: 'enough' })
  })

  test('skips its dependents only when it has ended', async () => {
    const worker = aWorker()
    const id = await engine.add(worker)
    const dependent = await engine.add(aWorker(), { requires: [id] })
    const dispatcher = await engine.byHand([worker])
    const [run] = await dispatcher.claim()
    await engine.millrace.cancel(id)
    expect(await engine.states(dependent)).toEqual(['waiting'])
    if (run) await dispatcher.perform(run)
    expect(await engine.states(dependent)).toEqual(['skipped'])
  })
})

describe('skipping by hand', () => {
  test('ends what does not run, and what depends on its success', async () => {
    const worker = aWorker()
    const id = await engine.add(worker)
    const dependent = await engine.add(worker, { requires: [id] })
    await engine.millrace.skip(id, { cause: 'not this time', actor: 'ada' })
    expect(await engine.millrace.task(id)).toMatchObject({ state: 'skipped', cause: 'not this time', culprit: null })
    expect(await engine.states(dependent)).toEqual(['skipped'])
  })

  test('is refused for what runs or has ended', async () => {
    const worker = aWorker()
    const id = await engine.add(worker)
    const dispatcher = await engine.byHand([worker])
    const [run] = await dispatcher.claim()
    await expect(engine.millrace.skip(id)).rejects.toThrow(StateRefused)
    if (run) await dispatcher.perform(run)
    await expect(engine.millrace.skip(id)).rejects.toThrow(StateRefused)
  })
})
