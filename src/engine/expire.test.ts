// Leases: who may record an outcome, and what becomes of tasks whose dispatcher fell silent.
import { describe, expect, test } from 'vitest'
import { aWorker, useEngine } from '../../test/engine.ts'
import { reconcile } from './reconcile.ts'
import type { Run } from './run.ts'
import { TransientError } from './work-error.ts'
import { type AnyWorker, later } from './worker.ts'

const engine = useEngine()

/** A dispatcher by hand that has claimed one task of the worker. */
async function claimed(worker: AnyWorker) {
  const dispatcher = await engine.byHand([worker])
  const [run] = await dispatcher.claim()
  return { dispatcher, run: run as Run }
}

describe('the lease', () => {
  test('the holder and the time of the start are set while it runs, and the holder is kept after', async () => {
    const worker = aWorker()
    const id = await engine.add(worker)
    const { dispatcher, run } = await claimed(worker)
    const running = await engine.millrace.task(id)
    expect(running).toMatchObject({
      state: 'running',
      dispatcher: { id: dispatcher.id, name: 'by hand' },
      finishedAt: null,
    })
    expect(running.startedAt).toBeInstanceOf(Date)
    await dispatcher.perform(run)
    const done = await engine.millrace.task(id)
    expect(done.finishedAt).toBeInstanceOf(Date)
    expect(done.startedAt).toEqual(running.startedAt)
    expect(done.dispatcher).toEqual(running.dispatcher)
    const { rows } = await engine.pool.query('select from millrace.live where id = $1', [id])
    expect(rows).toEqual([])
  })

  test('a dead dispatcher’s tasks are ready again, without holder, and its death is on record', async () => {
    const worker = aWorker()
    const id = await engine.add(worker)
    const { dispatcher } = await claimed(worker)
    await engine.expire(dispatcher.id)
    expect(await engine.millrace.task(id)).toMatchObject({
      state: 'ready',
      deaths: 1,
      dispatcher: null,
      startedAt: null,
    })
    expect(await engine.millrace.attempts(id)).toMatchObject([{ outcome: 'lease_lost', error: { code: 'lease_lost' } }])
  })

  test('a dispatcher that renews its lease keeps its tasks', async () => {
    const worker = aWorker()
    const id = await engine.add(worker)
    const { dispatcher, run } = await claimed(worker)
    await engine.pool.query(`update millrace.dispatcher set expires_at = clock_timestamp() where id = $1`, [
      dispatcher.id,
    ])
    await engine.pool.query('select millrace.heartbeat($1)', [dispatcher.id])
    await engine.pool.query('select millrace.expire()')
    expect(await engine.states(id)).toEqual(['running'])
    await dispatcher.perform(run)
  })

  test('a lease that ran out but was not taken away still commits', async () => {
    const worker = aWorker({ work: () => 'late' })
    const id = await engine.add(worker)
    const { dispatcher, run } = await claimed(worker)
    await engine.pool.query(
      `update millrace.dispatcher set expires_at = clock_timestamp() - interval '1 h' where id = $1`,
      [dispatcher.id],
    )
    expect(await dispatcher.perform(run)).toMatchObject({ outcome: 'succeeded' })
    expect((await engine.millrace.task(id)).output).toBe('late')
  })

  test('a dispatcher that was declared dead claims nothing more', async () => {
    const worker = aWorker()
    const dispatcher = await engine.byHand([worker])
    await engine.expire(dispatcher.id)
    await engine.add(worker)
    expect(await dispatcher.claim()).toEqual([])
    expect((await engine.drain(worker)).performed).toHaveLength(1)
  })
})

describe('a worker that lost its lease', () => {
  test('has its result dropped, and the history says so', async () => {
    const worker = aWorker({ work: () => 'stale' })
    const id = await engine.add(worker)
    const { dispatcher, run } = await claimed(worker)
    await engine.expire(dispatcher.id)
    expect(await dispatcher.perform(run)).toMatchObject({ outcome: 'dropped', state: 'ready' })
    const entry = (await engine.millrace.history(id)).find(({ name }) => name === 'result_dropped')
    expect(entry?.cause).toContain(`dispatcher ${dispatcher.id}`)
    expect((await engine.millrace.task(id)).output).toBeNull()
  })

  test('has the writes and the tasks of its callback rolled back', async () => {
    await engine.pool.query('create table stale (task text)')
    const child = aWorker()
    const worker = aWorker({
      async onSuccess(tx, task) {
        await tx.query('insert into stale values ($1)', [task.id])
        await tx.add(child, 1)
      },
    })
    const id = await engine.add(worker)
    const { dispatcher, run } = await claimed(worker)
    await engine.expire(dispatcher.id)
    expect(await dispatcher.perform(run)).toMatchObject({ outcome: 'dropped' })
    expect((await engine.pool.query('select from stale')).rows).toEqual([])
    expect((await engine.drain(child)).performed).toEqual([])
    expect(await engine.story(id)).toContain('result_dropped')
  })

  test('cannot commit while another runs the task: the other’s result stands, and is the only one', async () => {
    await engine.pool.query('create table charge (by text)')
    let name = 'A'
    const worker = aWorker({
      work: () => name,
      async onSuccess(tx, _task, result) {
        await tx.query('insert into charge values ($1)', [result])
      },
    })
    const id = await engine.add(worker)
    const a = await claimed(worker)
    await engine.expire(a.dispatcher.id)
    const b = await claimed(worker)
    expect(b.run.id).toBe(id)
    expect(await a.dispatcher.perform(a.run)).toMatchObject({ outcome: 'dropped', state: 'running' })
    expect((await engine.millrace.task(id)).dispatcher?.id).toBe(b.dispatcher.id)
    name = 'B'
    expect(await b.dispatcher.perform(b.run)).toMatchObject({ outcome: 'succeeded', output: 'B' })
    expect((await engine.pool.query('select by from charge')).rows).toEqual([{ by: 'B' }])
  })

  test('cannot commit after another has: what stands is not overwritten', async () => {
    let name = 'B'
    const worker = aWorker({ work: () => name })
    const id = await engine.add(worker)
    const a = await claimed(worker)
    await engine.expire(a.dispatcher.id)
    await engine.drain(worker)
    name = 'A'
    expect(await a.dispatcher.perform(a.run)).toMatchObject({ outcome: 'dropped', state: 'succeeded' })
    expect((await engine.millrace.task(id)).output).toBe('B')
  })

  test.each([
    [
      'fail',
      () => {
        throw new Error('stale')
      },
    ],
    [
      'retry',
      () => {
        throw new TransientError('stale')
      },
    ],
    ['ask for later', () => later({ delaySeconds: 60 })],
  ])('cannot %s the task that another runs', async (_what, staleWork) => {
    let work: () => unknown = staleWork
    const worker = aWorker({ work: () => work() })
    const id = await engine.add(worker)
    const a = await claimed(worker)
    await engine.expire(a.dispatcher.id)
    const b = await claimed(worker)
    expect(await a.dispatcher.perform(a.run)).toMatchObject({ outcome: 'dropped', state: 'running' })
    work = () => 'fresh'
    expect(await b.dispatcher.perform(b.run)).toMatchObject({ outcome: 'succeeded' })
    expect(await engine.story(id)).toContain('result_dropped')
  })

  test('cannot renew the lease of the one that has it', async () => {
    const worker = aWorker()
    await engine.add(worker)
    const a = await claimed(worker)
    await engine.expire(a.dispatcher.id)
    const { rows } = await engine.pool.query('select is_alive from millrace.heartbeat($1)', [a.dispatcher.id])
    expect(rows).toEqual([{ is_alive: false }])
    await engine.drain(worker)
  })

  test('cannot finish a task that it claimed again with the result of the first time', async () => {
    let result = 'first'
    const worker = aWorker({ work: () => result })
    const id = await engine.add(worker)
    const { dispatcher, run } = await claimed(worker)
    // The answer to the claim was lost: the dispatcher hands back what it does not know, and claims it again.
    await reconcile(engine.pool, dispatcher.id, () => false)
    const [again] = await dispatcher.claim()
    expect(again?.id).toBe(id)
    expect(await dispatcher.perform(run)).toMatchObject({ state: 'running' })
    expect((await engine.millrace.task(id)).output).toBeNull()
    result = 'second'
    expect(await dispatcher.perform(again as Run)).toMatchObject({ outcome: 'succeeded', output: 'second' })
  })

  test('retrying by hand does not bring an old attempt back to life', async () => {
    const worker = aWorker({ work: () => 'old' })
    const id = await engine.add(worker)
    const a = await claimed(worker)
    await engine.millrace.cancel(id)
    await engine.expire(a.dispatcher.id)
    expect(await engine.states(id)).toEqual(['canceled'])
    await engine.millrace.retry(id)
    const b = await claimed(worker)
    expect(await a.dispatcher.perform(a.run)).toMatchObject({ outcome: 'canceled', state: 'running' })
    expect(await b.dispatcher.perform(b.run)).toMatchObject({ outcome: 'succeeded' })
  })
})

describe('a task that kills its dispatchers', () => {
  /** Claims the task, lets it begin, and kills the dispatcher. */
  async function killWith(worker: AnyWorker, maxDeaths: number): Promise<void> {
    const { dispatcher, run } = await claimed(worker)
    if (run.deaths > 0)
      await engine.pool.query('select millrace.begin_suspect($1, $2, $3)', [dispatcher.id, run.id, run.epoch])
    await engine.expire(dispatcher.id, maxDeaths)
  }

  test('fails after so many deaths instead of looping', async () => {
    const worker = aWorker()
    const id = await engine.add(worker)
    const dependent = await engine.add(aWorker(), { requires: [id] })
    for (let death = 1; death < 3; death += 1) {
      await killWith(worker, 3)
      expect(await engine.millrace.task(id)).toMatchObject({ state: 'ready', deaths: death })
    }
    await killWith(worker, 3)
    expect(await engine.millrace.task(id)).toMatchObject({
      state: 'failed',
      deaths: 3,
      error: { code: 'died_too_often', message: expect.stringContaining('3 times') },
    })
    expect(await engine.states(dependent)).toEqual(['skipped'])
    expect((await engine.millrace.attempts(id)).map(({ outcome }) => outcome)).toEqual([
      'lease_lost',
      'lease_lost',
      'failed',
    ])
  })

  test('is suspected alone: what was claimed beside it and had not begun is not blamed again', async () => {
    const worker = aWorker()
    const id = await engine.add(worker)
    for (let death = 0; death < 10; death += 1) {
      const { dispatcher } = await claimed(worker)
      await engine.expire(dispatcher.id, 3)
    }
    expect(await engine.millrace.task(id)).toMatchObject({ state: 'ready', deaths: 1 })
  })

  test('can be retried by hand, and starts with no deaths', async () => {
    const worker = aWorker()
    const id = await engine.add(worker)
    await killWith(worker, 1)
    expect(await engine.states(id)).toEqual(['failed'])
    await engine.millrace.retry(id)
    expect(await engine.millrace.task(id)).toMatchObject({ state: 'ready', deaths: 0 })
  })
})

describe('handing back', () => {
  const handBack = (holder: number, run: Run) =>
    engine.pool.query(
      `select * from millrace.requeue($1, array[$2::bigint], array[$3::int], 'handed_back', null, null)`,
      [holder, run.id, run.epoch],
    )

  test('puts the task back to its place in the line, without holder, and is no attempt', async () => {
    const worker = aWorker()
    const ids = [await engine.add(worker), await engine.add(worker)]
    const { dispatcher, run } = await claimed(worker)
    await handBack(dispatcher.id, run)
    expect(await engine.millrace.task(run.id)).toMatchObject({
      state: 'ready',
      dispatcher: null,
      failures: 0,
      deaths: 0,
    })
    expect(await engine.millrace.attempts(run.id)).toEqual([])
    const { performed } = await engine.drain(worker)
    expect(performed.map(({ id }) => id)).toEqual(ids)
  })

  test('of a task that waits for something by now lets it wait', async () => {
    const [worker, other] = [aWorker(), aWorker()]
    const required = await engine.add(other)
    const id = await engine.add(worker, { requires: [required] })
    await engine.drain(other)
    const { dispatcher, run } = await claimed(worker)
    await engine.millrace.rerun(required)
    await handBack(dispatcher.id, run)
    expect(await engine.states(id)).toEqual(['waiting'])
    await engine.drain(other)
    expect(await engine.states(id)).toEqual(['ready'])
  })

  test('by one that has lost the lease changes nothing', async () => {
    const worker = aWorker()
    const id = await engine.add(worker)
    const a = await claimed(worker)
    await engine.expire(a.dispatcher.id)
    const b = await claimed(worker)
    expect((await handBack(a.dispatcher.id, a.run)).rows).toEqual([])
    expect(await engine.states(id)).toEqual(['running'])
    await b.dispatcher.perform(b.run)
  })
})
