// Work that went on while its lease was lost: it is resumed, unless another attempt has begun.
import { describe, expect, test } from 'vitest'
import { aWorker, deferred, useEngine } from '../../test/engine.ts'
import { transaction } from '../db/index.ts'
import type { DispatchOptions } from './dispatch-options.ts'
import { expire, resumeTasks } from './dispatchers.sql.ts'
import { Names } from './names.ts'
import { resolveRefused } from './reconcile.ts'
import type { Run } from './run.ts'
import type { AnyWorker } from './worker.ts'

const engine = useEngine()

/** A worker whose first attempt returns `first` when told to, and whose later ones return at once. */
function aSlowWorker(callbacks: Partial<AnyWorker> = {}) {
  const [begun, end] = [deferred(), deferred()]
  const reasons: string[] = []
  let runs = 0
  const worker = aWorker({
    ...callbacks,
    work({ signal }) {
      runs += 1
      if (runs > 1) return 'second'
      signal.addEventListener('abort', () => reasons.push((signal.reason as { code: string }).code))
      begun.resolve()
      return end.promise.then(() => 'first')
    },
  })
  return { worker, begun: begun.promise, end: () => end.resolve(), reasons, runs: () => runs }
}

const fail = (error: Error) => {
  throw error
}

/** Long enough that it is not lost by itself on a busy machine. */
const start = (worker: AnyWorker, options: DispatchOptions = {}) =>
  engine.dispatch([worker], { leaseSeconds: 3, ...options })

/** In the transaction that takes the lease away, so that its dispatcher cannot be faster. */
const loseAnd = (holder: number, sql: string, values: unknown[]) =>
  transaction(engine.pool, async (tx) => {
    await tx.query(`update millrace.dispatcher set expires_at = clock_timestamp() - interval '1 s' where id = $1`, [
      holder,
    ])
    await tx.query('select millrace.expire()')
    await tx.query(sql, values)
  })

describe('a dispatcher that lost its lease', () => {
  test('goes on with work that no other attempt has begun, and its result counts', async () => {
    const slow = aSlowWorker()
    const id = await engine.add(slow.worker)
    const dispatcher = await start(slow.worker)
    const first = dispatcher.id
    await slow.begun
    await engine.expire(first)
    await expect.poll(() => engine.story(id)).toContain('resumed')
    expect(await engine.millrace.task(id)).toMatchObject({
      state: 'running',
      deaths: 0,
      dispatcher: { id: dispatcher.id },
    })
    expect(dispatcher.id).not.toBe(first)
    slow.end()
    await expect.poll(() => engine.states(id)).toEqual(['succeeded'])
    expect(await engine.millrace.task(id)).toMatchObject({ output: 'first' })
    expect(slow.reasons).toEqual([])
    expect(slow.runs()).toBe(1)
    const story = ['created', 'readied', 'claimed', 'lease_lost', 'readied', 'resumed', 'succeeded']
    expect(await engine.story(id)).toEqual(story)
    expect((await engine.millrace.attempts(id)).map(({ outcome }) => outcome)).toEqual(['succeeded'])
  })

  test('delivers a result with its callback that came while the lease was lost', async () => {
    await engine.pool.query('create table delivered (task text)')
    const slow = aSlowWorker({
      onSuccess: async (tx, task) => void (await tx.query('insert into delivered values ($1)', [task.id])),
    })
    const id = await engine.add(slow.worker)
    const dispatcher = await start(slow.worker)
    await slow.begun
    await loseAnd(dispatcher.id, 'select 1', [])
    slow.end()
    await expect.poll(() => engine.states(id)).toEqual(['succeeded'])
    expect((await engine.pool.query('select task from delivered')).rows).toEqual([{ task: id }])
    expect(slow.runs()).toBe(1)
  })

  test('stops by the signal what another has begun, and drops its result', async () => {
    const slow = aSlowWorker()
    const id = await engine.add(slow.worker)
    const dispatcher = await start(slow.worker)
    const other = await engine.byHand([slow.worker])
    await slow.begun
    await loseAnd(
      dispatcher.id,
      `update millrace.live set state = 'running', holder = $2, epoch = epoch + 1, started_at = clock_timestamp() where id = $1`,
      [id, other.id],
    )
    await expect.poll(() => slow.reasons).toEqual(['lease_lost'])
    slow.end()
    await expect.poll(() => engine.story(id)).toContain('result_dropped')
    expect(await engine.millrace.task(id)).toMatchObject({ state: 'running', dispatcher: { id: other.id } })
    await engine.expire(other.id)
    await expect.poll(() => engine.states(id)).toEqual(['succeeded'])
    expect((await engine.millrace.task(id)).output).toBe('second')
  })

  test('has its place at a limit again before those that waited', async () => {
    const slow = aSlowWorker()
    const limit = { group: 'one at a time', max: 1 }
    const id = await engine.add(slow.worker, { limit })
    const dispatcher = await start(slow.worker)
    await slow.begun
    const next = await engine.add(slow.worker, { limit })
    await engine.expire(dispatcher.id)
    await expect.poll(() => engine.story(id)).toContain('resumed')
    expect(await engine.states(id, next)).toEqual(['running', 'ready'])
    slow.end()
    await expect.poll(() => engine.states(id, next)).toEqual(['succeeded', 'succeeded'])
    expect((await engine.millrace.task(id)).output).toBe('first')
  })

  test('keeps the work of what cannot be resumed yet, and resumes it later', async () => {
    const slow = aSlowWorker()
    const id = await engine.add(slow.worker)
    // Without room for a second attempt.
    const dispatcher = await start(slow.worker, { concurrency: 1, prefetch: 0 })
    const first = dispatcher.id
    await slow.begun
    await loseAnd(first, `select millrace.hold(array[$1::bigint], null, 'ada')`, [id])
    await expect.poll(() => dispatcher.id).not.toBe(first)
    expect(await engine.states(id)).toEqual(['held'])
    await engine.millrace.release(id)
    await expect.poll(() => engine.story(id)).toContain('resumed')
    slow.end()
    await expect.poll(() => engine.states(id)).toEqual(['succeeded'])
    expect((await engine.millrace.task(id)).output).toBe('first')
  })
})

describe('an attempt whose lease was lost', () => {
  const claimed = async (worker: AnyWorker) => {
    const dispatcher = await engine.byHand([worker])
    const [run] = (await dispatcher.claim()) as [Run]
    return { dispatcher, run }
  }
  const resume = async (to: number, run: Run) => {
    const asked = { holder: to, ids: [run.id], epochs: [run.epoch] }
    return (await resumeTasks(engine.pool, asked))[0]?.fate
  }

  test('is not resumed by a dispatcher that is dead as well', async () => {
    const worker = aWorker()
    await engine.add(worker)
    const { dispatcher, run } = await claimed(worker)
    const next = await engine.byHand([worker])
    await engine.expire(dispatcher.id)
    await engine.expire(next.id)
    expect(await resume(next.id, run)).toBe('open')
    await engine.drain(worker)
  })

  test('is gone once the task was canceled and retried', async () => {
    const worker = aWorker()
    const id = await engine.add(worker)
    const { dispatcher, run } = await claimed(worker)
    await engine.expire(dispatcher.id)
    await engine.millrace.cancel(id)
    await engine.millrace.retry(id)
    expect(await engine.states(id)).toEqual(['ready'])
    expect(await resume((await engine.byHand([worker])).id, run)).toBe('gone')
    await engine.drain(worker)
  })

  test('is resumed once: a second dispatcher does not get it', async () => {
    const worker = aWorker()
    const id = await engine.add(worker)
    const { dispatcher, run } = await claimed(worker)
    await engine.expire(dispatcher.id)
    const [next, late] = [await engine.byHand([worker]), await engine.byHand([worker])]
    expect(await resume(next.id, run)).toBe('resumed')
    expect(await resume(next.id, run), 'asked again, since the answer was lost').toBe('resumed')
    expect(await resume(late.id, run)).toBe('open')
    run.holder = next.id
    expect(await next.perform(run)).toMatchObject({ outcome: 'succeeded' })
    expect(await engine.states(id)).toEqual(['succeeded'])
  })

  test('is resumed although an earlier resumption had no answer and its lease was lost as well', async () => {
    const worker = aWorker()
    const id = await engine.add(worker)
    const { dispatcher, run } = await claimed(worker)
    await engine.expire(dispatcher.id)
    const unheard = await engine.byHand([worker])
    expect(await resume(unheard.id, run)).toBe('resumed')
    const next = await engine.byHand([worker])
    expect(await resume(next.id, run)).toBe('open')
    await engine.expire(unheard.id)
    expect(await resume(next.id, run)).toBe('resumed')
    run.holder = next.id
    expect(await next.perform(run)).toMatchObject({ outcome: 'succeeded' })
    expect(await engine.states(id)).toEqual(['succeeded'])
  })

  test('is not given up while its outcome is refused because it was resumed a moment before', async () => {
    const worker = aWorker()
    await engine.add(worker)
    const { dispatcher, run } = await claimed(worker)
    await engine.expire(dispatcher.id)
    const at = { pool: engine.pool, names: new Names(engine.pool), mayResume: () => true }
    expect(await resolveRefused(at, [run], fail), 'lost').toEqual([run])
    const next = await engine.byHand([worker])
    await resume(next.id, run)
    expect(await resolveRefused(at, [run], fail), 'resumed').toEqual([run])
    expect(await engine.story(run.id)).not.toContain('result_dropped')
    run.holder = next.id
    await next.perform(run)
  })

  test('that is resumed counts no death, however often', async () => {
    const worker = aWorker()
    const id = await engine.add(worker)
    const { dispatcher, run } = await claimed(worker)
    let holder = dispatcher.id
    for (let round = 0; round < 7; round += 1) {
      await engine.expire(holder)
      const next = await engine.byHand([worker])
      expect(await resume(next.id, run)).toBe('resumed')
      holder = run.holder = next.id
    }
    expect(await engine.millrace.task(id)).toMatchObject({ state: 'running', deaths: 0 })
    await engine.expire(holder)
    expect(await engine.millrace.task(id)).toMatchObject({ state: 'ready', deaths: 1 })
    await engine.drain(worker)
  })
})

describe('a lease that ran out', () => {
  /** What `expire` says that has been in touch for so many seconds, and last so many ago. */
  const expireAs = async (inTouch: number | null, lastAgo: number | null, gap = 2) => {
    const ago = async (seconds: number | null) => {
      if (seconds === null) return null
      const { rows } = await engine.pool.query('select (clock_timestamp() - make_interval(secs => $1))::text as at', [
        seconds,
      ])
      return rows[0].at as string
    }
    const asked = { since: await ago(inTouch), last: await ago(lastAgo), max_deaths: 5, gap_seconds: gap }
    return (await expire(engine.pool, asked)).count
  }
  const overdue = async (leaseSeconds: number, isStopped = false) => {
    const worker = aWorker()
    await engine.add(worker)
    const dispatcher = await engine.byHand([worker])
    await dispatcher.claim()
    if (isStopped) await dispatcher.unregister()
    await engine.pool.query(
      `update millrace.dispatcher set lease_seconds = $2, expires_at = clock_timestamp() - interval '1 s' where id = $1`,
      [dispatcher.id, leaseSeconds],
    )
    return worker
  }

  test('is taken away only by who has been in touch for half of it', async () => {
    const worker = await overdue(30)
    expect(await expireAs(null, null)).toBe(0)
    expect(await expireAs(14, 1)).toBe(0)
    expect(await expireAs(16, 1)).toBe(1)
    await engine.drain(worker)
  })

  test('is not taken away by who was out of touch just before, however long it was in touch earlier', async () => {
    const worker = await overdue(30)
    expect(await expireAs(1000, 3)).toBe(0)
    expect(await expireAs(1000, 3, 5)).toBe(1)
    await engine.drain(worker)
  })

  test('is taken away at once when its dispatcher has stopped', async () => {
    const worker = await overdue(30, true)
    expect(await expireAs(null, null)).toBe(1)
    await engine.drain(worker)
  })
})
