import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { aWorker, deferred, throwing, useEngine } from '../../test/engine.ts'
import { drain } from './drain.ts'
import { AdvisoryError, PermanentError, TransientError } from './work-error.ts'
import { type AnyWorker, defineWorker, later, unchanged } from './worker.ts'

const engine = useEngine()
const { performOne } = engine

describe('success', () => {
  test('keeps the result, and no error', async () => {
    const { id, task } = await performOne(aWorker({ work: async () => ({ n: 1 }) }))
    expect(task).toMatchObject({ state: 'succeeded', output: { n: 1 }, error: null, failures: 0 })
    expect(await engine.millrace.attempts(id)).toMatchObject([{ number: 1, outcome: 'succeeded', error: null }])
  })

  test('is read with its worker, and a task of another kind is refused', async () => {
    const worker = aWorker({ work: () => ({ at: new Date(0) }) })
    const { id } = await performOne(worker)
    expect((await engine.millrace.task(worker, id)).output).toEqual({ at: '1970-01-01T00:00:00.000Z' })
    const other = aWorker()
    await expect(engine.millrace.task(other, id)).rejects.toMatchObject({
      code: 'kind_differs',
      message: `task ${id} is of kind "${worker.kind}", not of kind "${other.kind}"`,
    })
  })

  test('commits what its callback writes and adds, and sees payload and result', async () => {
    await engine.pool.query('create table page (url text, size int)')
    const child = aWorker()
    const worker = aWorker({
      work: ({ payload }) => ({ size: payload.url.length }),
      async onSuccess(tx, task, result) {
        await tx.query('insert into page values ($1, $2)', [task.payload.url, result.size])
        await tx.add(child, result.size)
      },
    })
    await engine.add(worker, {}, { url: 'abc' })
    await engine.drain(worker)
    expect((await engine.pool.query('select url, size from page')).rows).toEqual([{ url: 'abc', size: 3 }])
    expect((await engine.drain(child)).performed).toHaveLength(1)
  })

  test('with nothing returned keeps nothing', async () => {
    expect((await performOne(aWorker({ onSuccess: () => undefined }))).task.output).toBeNull()
  })

  test('of an unchanged first run keeps its result', async () => {
    expect((await performOne(aWorker({ work: () => unchanged(5) }))).task.output).toBe(5)
  })

  test('gives the work function its payload as the schema makes it', async () => {
    const worker = defineWorker({
      kind: 'perform.defaults',
      payload: z.object({ times: z.number().default(3) }),
      work: ({ payload }) => payload.times,
    })
    const { id } = await engine.millrace.add(worker, {})
    await engine.drain(worker)
    expect((await engine.millrace.task(id)).output).toBe(3)
  })
})

describe('later', () => {
  test('by time: delayed, with nothing on record as an error', async () => {
    const { id, task, outcome, error } = await performOne(aWorker({ work: () => later({ delaySeconds: 3600 }) }))
    expect({ outcome, error }).toEqual({ outcome: 'later', error: null })
    expect(task).toMatchObject({ state: 'delayed', failures: 0, startedAt: null })
    expect(task.notBefore).not.toBeNull()
    expect(await engine.millrace.attempts(id)).toMatchObject([{ outcome: 'later', error: null }])
  })

  test('by requirement: waiting until it is met', async () => {
    const part = aWorker()
    let required: string | undefined
    const worker = aWorker({ work: () => (required === undefined ? 'done' : later({ requires: [required] })) })
    required = await engine.add(part)
    const { id, task } = await performOne(worker)
    expect(task).toMatchObject({ state: 'waiting', unmet: 1 })
    required = undefined
    await engine.drain(part)
    expect(await engine.states(id)).toEqual(['ready'])
    await engine.drain(worker)
    expect((await engine.millrace.task(id)).output).toBe('done')
  })

  test('by both: waiting, and when the requirement is met delayed until the time', async () => {
    const part = aWorker()
    const required = await engine.add(part)
    const { id, task } = await performOne(
      aWorker({ work: () => later({ requires: [{ task: required, when: 'finished' }], delaySeconds: 3600 }) }),
    )
    expect(task.state).toBe('waiting')
    await engine.drain(part)
    expect(await engine.states(id)).toEqual(['delayed'])
  })

  test('by a requirement that is met already: ready at once', async () => {
    const part = aWorker()
    const required = await engine.add(part)
    await engine.drain(part)
    const { task } = await performOne(aWorker({ work: () => later({ requires: [required] }) }))
    expect(task.state).toBe('ready')
  })

  test('by a requirement that has failed: skipped', async () => {
    const part = throwing(() => new PermanentError('no'))
    const required = await engine.add(part)
    await engine.drain(part)
    const { task } = await performOne(aWorker({ work: () => later({ requires: [required] }) }))
    expect(task).toMatchObject({ state: 'skipped', culprit: required })
  })

  test('by a requirement that does not exist: failed, naming it', async () => {
    const { outcome, error } = await performOne(aWorker({ work: () => later({ requires: ['999999999'] }) }))
    expect(outcome).toBe('failed')
    expect(error?.message).toContain('999999999')
  })

  test('as often as it likes: it is no error and uses up no attempt', async () => {
    let times = 0
    const worker = aWorker({ maxAttempts: 1, work: () => (++times < 5 ? later() : 'done') })
    const id = await engine.add(worker)
    const { counts } = await engine.drain(worker)
    expect(counts).toMatchObject({ later: 4, succeeded: 1 })
    expect((await engine.millrace.attempts(id)).map(({ number }) => number)).toEqual([1, 2, 3, 4, 5])
  })

  test('commits what its callback writes', async () => {
    await engine.pool.query('create table asked (task text)')
    const { id } = await performOne(
      aWorker({
        work: () => later({ delaySeconds: 60 }),
        async onReschedule(tx, task) {
          await tx.query('insert into asked values ($1)', [task.id])
        },
      }),
    )
    expect((await engine.pool.query('select task from asked')).rows).toEqual([{ task: id }])
  })
})

describe('callbacks', () => {
  const written = async (text: string) =>
    (await engine.pool.query('select from note where text = $1', [text])).rows.length > 0

  test('an exception in onSuccess rolls back its writes and becomes the outcome', async () => {
    await engine.pool.query('create table if not exists note (text text)')
    const child = aWorker()
    const worker = aWorker({
      work: () => 'result',
      async onSuccess(tx) {
        await tx.query(`insert into note values ('success')`)
        await tx.add(child, 1)
        throw new Error('callback broke')
      },
    })
    expect(await performOne(worker)).toMatchObject({ outcome: 'failed', error: { message: 'callback broke' } })
    expect(await written('success')).toBe(false)
    expect((await engine.drain(child)).performed).toEqual([])
  })

  test('a transient exception in onSuccess means that the task runs again', async () => {
    let isBusy = true
    const worker = aWorker({
      onSuccess() {
        if (isBusy) throw new TransientError('busy', { retryAfterSeconds: 0 })
      },
    })
    expect(await performOne(worker)).toMatchObject({ outcome: 'retry' })
    isBusy = false
    expect((await engine.drain(worker)).counts.succeeded).toBe(1)
  })

  test('an exception in onReschedule rolls back its writes and its requirements', async () => {
    await engine.pool.query('create table if not exists note (text text)')
    const required = await engine.add(aWorker())
    const worker = aWorker({
      work: () => later({ requires: [required] }),
      async onReschedule(tx) {
        await tx.query(`insert into note values ('reschedule')`)
        throw new PermanentError('callback broke')
      },
    })
    const { id, outcome } = await performOne(worker)
    expect(outcome).toBe('failed')
    expect(await written('reschedule')).toBe(false)
    expect(await engine.millrace.requirements(id)).toEqual([])
  })

  test('an exception in onFailure rolls back its writes, and the failure stands with a note of it', async () => {
    await engine.pool.query('create table if not exists note (text text)')
    const worker = throwing(() => new PermanentError('first'), {
      async onFailure(tx) {
        await tx.query(`insert into note values ('failure')`)
        throw new Error('second')
      },
    })
    const { task } = await performOne(worker)
    expect(task).toMatchObject({ state: 'failed', error: { message: 'first', onFailure: 'second' } })
    expect(await written('failure')).toBe(false)
  })

  test('an exception in onFailure is noted also when it cannot be kept as it is', async () => {
    const worker = throwing(() => new PermanentError('first'), {
      onFailure() {
        throw new Error('a\u0000b')
      },
    })
    expect((await performOne(worker)).error).toMatchObject({ message: 'first', onFailure: 'a\uFFFDb' })
  })

  test('SQL that fails in a callback is the error of the task, with its code', async () => {
    const worker = aWorker({
      async onSuccess(tx) {
        await tx.query('select 1 / 0')
      },
    })
    expect(await performOne(worker)).toMatchObject({ outcome: 'failed', error: { code: '22012' } })
  })

  test('SQL that fails in onFailure does not keep the failure from being recorded', async () => {
    const worker = throwing(() => new PermanentError('no'), {
      async onFailure(tx) {
        await tx.query('select 1 / 0')
      },
    })
    expect(await performOne(worker)).toMatchObject({ outcome: 'failed', error: { message: 'no' } })
  })

  test('onFailure is called for permanent, transient and advisory errors alike, and its writes stand', async () => {
    await engine.pool.query('create table if not exists note (text text)')
    for (const make of [
      () => new PermanentError('permanent'),
      () => new TransientError('transient'),
      () => new AdvisoryError('advisory'),
    ]) {
      await performOne(
        throwing(make, {
          async onFailure(tx, _task, error) {
            await tx.query('insert into note values ($1)', [error.category])
          },
        }),
      )
    }
    for (const category of ['permanent', 'transient', 'advisory']) expect(await written(category)).toBe(true)
  })

  test('onFailure is given the number of the attempt, its category, and whether the task ends with it', async () => {
    const seen: unknown[] = []
    const categories: string[] = []
    const onFailure: AnyWorker['onFailure'] = (_tx, task, error, { attempt, category, isLast }) => {
      seen.push([task.payload, attempt, category, isLast])
      categories.push(error.category)
    }
    let runs = 0
    const worker = aWorker({
      onFailure,
      work({ payload }) {
        runs += 1
        if (payload === 'advisory') throw new AdvisoryError('good to know')
        if (payload === 'permanent') throw new PermanentError('no')
        if (runs === 2) return later() // an attempt, and no failure
        throw new TransientError('busy')
      },
    })
    const id = await engine.add(worker, { maxAttempts: 3 }, 'transient')
    await drain(engine.millrace, [worker], { includeDelayed: true })
    const expected = [
      ['transient', 1, 'transient', false],
      ['transient', 3, 'transient', false],
      ['transient', 4, 'transient', true],
    ]
    expect(seen).toEqual(expected)
    const attempts = await engine.millrace.attempts(id)
    expect(attempts.map(({ number, outcome }) => [number, outcome])).toEqual([
      [1, 'retry'],
      [2, 'later'],
      [3, 'retry'],
      [4, 'failed'],
    ])
    const advisory = await engine.add(worker, {}, 'advisory')
    const permanent = await engine.add(worker, {}, 'permanent')
    const dispatcher = await engine.dispatch([worker])
    await dispatcher.idle()
    expect(seen.slice(3)).toEqual(
      expect.arrayContaining([
        ['advisory', 1, 'advisory', true],
        ['permanent', 1, 'permanent', true],
      ]),
    )
    expect(categories.slice(0, 3)).toEqual(['transient', 'transient', 'transient'])
    expect(await engine.states(id, advisory, permanent)).toEqual(['failed', 'succeeded', 'failed'])
    expect((await engine.millrace.task(advisory)).error).toMatchObject({ message: 'good to know' })
  })

  test('a retried task counts its attempts on, and may fail as often as before', async () => {
    const seen: unknown[] = []
    const worker = throwing(() => new TransientError('busy'), {
      maxAttempts: 2,
      onFailure: (_tx, _task, _error, { attempt, isLast }) => void seen.push([attempt, isLast]),
    })
    const id = await engine.add(worker)
    await drain(engine.millrace, [worker], { includeDelayed: true })
    await engine.millrace.retry(id)
    await drain(engine.millrace, [worker], { includeDelayed: true })
    expect(seen).toEqual([
      [1, false],
      [2, true],
      [3, false],
      [4, true],
    ])
  })

  test('onFailure is not called for an attempt whose lease was lost', async () => {
    let calls = 0
    const worker = aWorker({
      onFailure() {
        calls += 1
      },
      async work() {
        await engine.expire(dispatcher.id)
        throw new TransientError('too late')
      },
    })
    const dispatcher = await engine.byHand([worker])
    await engine.add(worker)
    const [run] = await dispatcher.claim()
    expect(run && (await dispatcher.perform(run)).outcome).toBe('dropped')
    expect(calls).toBe(0)
  })

  test('a task that a callback adds wrongly fails the task that added it', async () => {
    const worker = aWorker({
      async onSuccess(tx) {
        await tx.add(aWorker(), 1, { requires: ['999999999'] })
      },
    })
    expect(await performOne(worker)).toMatchObject({ outcome: 'failed', error: { code: 'task_not_found' } })
  })
})

test('no transaction is open while work runs, whether a callback records its end or not', async () => {
  const end = deferred()
  let begun = 0
  const work = () => {
    begun += 1
    return end.promise
  }
  const workers = [aWorker({ work }), aWorker({ work, onSuccess: () => undefined })]
  const added = await engine.millrace.addMany(workers.map((worker) => ({ worker, payload: {} })))
  const dispatcher = await engine.dispatch(workers)
  await expect.poll(() => begun).toBe(2)
  // Steps, heartbeats and the like come and go: what is held for as long as work runs is there whenever one looks.
  const open = async () => {
    const { rows } = await engine.pool.query(
      `select application_name, state, query from pg_stat_activity
       where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend'
         and (xact_start is not null or state like 'idle in transaction%')`,
    )
    return rows
  }
  await expect.poll(open).toEqual([])
  expect(await engine.states(...added.map(({ id }) => id))).toEqual(['running', 'running'])
  end.resolve()
  await dispatcher.idle()
})
