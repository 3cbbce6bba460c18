import { describe, expect, test } from 'vitest'
import { aWorker, mendable, throwing, useEngine } from '../../test/engine.ts'
import { waitFor } from '../../test/processes.ts'
import { transaction } from '../db/index.ts'
import { connect, InvalidOption, PermanentError, PositionGone, TransientError } from './index.ts'
import { keepOutbox, newestPosition, oldestPosition, publish, readEvents, sequence } from './outbox.ts'
import type { EventFilter, TaskEvent } from './task-event.ts'

const engine = useEngine()

/** Everything told after the position, up to now. */
async function toldAfter(position: string, filter: EventFilter = {}): Promise<TaskEvent[]> {
  await sequence(engine.pool)
  const events: TaskEvent[] = []
  for (let at = position, hasMore = true; hasMore; ) {
    const page = await readEvents(engine.pool, { after: at, filter, limit: 1000 })
    events.push(...page.events)
    ;({ next: at, hasMore } = page)
  }
  return events
}

const now = () => sequence(engine.pool)
const namesOf = (events: readonly TaskEvent[]) => events.map((event) => event.name)

describe('what is told', () => {
  test('an event says what happened to which task, from which state to which', async () => {
    const start = await now()
    const worker = aWorker()
    const id = await engine.add(worker, { scope: 'archive:A', key: '12:index', actor: 'ann' })
    await engine.drain(worker)
    const [created, readied, claimed, succeeded] = await toldAfter(start)
    const task = { task: id, scope: 'archive:A', key: '12:index', kind: worker.kind, queue: 'default' }
    expect(created).toMatchObject({ ...task, name: 'created', from: null, to: 'waiting', actor: 'ann' })
    expect(readied).toMatchObject({ ...task, name: 'readied', from: 'waiting', to: 'ready' })
    expect(claimed).toMatchObject({ ...task, name: 'claimed', from: 'ready', to: 'running' })
    expect(succeeded).toMatchObject({ ...task, name: 'succeeded', from: 'running', to: 'succeeded' })
    expect(claimed?.dispatcher).toBe(succeeded?.dispatcher)
    expect(created?.at).toBeInstanceOf(Date)
  })

  test('a failure is told with its error and without the stack', async () => {
    const start = await now()
    await engine.performOne(throwing(() => new PermanentError('no paper')))
    const failed = (await toldAfter(start)).at(-1)
    expect(failed).toMatchObject({ name: 'failed', from: 'running', detail: { message: 'no paper' } })
    expect(failed?.detail).not.toHaveProperty('stack')
  })

  test('a retry is told with the state it leads to', async () => {
    const start = await now()
    await engine.performOne(throwing(() => new TransientError('busy', { retryAfterSeconds: 1000 })))
    expect((await toldAfter(start)).at(-1)).toMatchObject({ name: 'retry', to: 'delayed', detail: { message: 'busy' } })
  })

  test('a skip names the task whose end it follows, and a person who retries it is named', async () => {
    const start = await now()
    const { worker, broken } = mendable()
    broken.add('first')
    const first = await engine.add(worker, {}, 'first')
    const second = await engine.add(worker, { requires: [first] }, 'second')
    await engine.drain(worker)
    await engine.millrace.retry(first, { actor: 'bob', cause: 'mended' })
    const events = await toldAfter(start)
    expect(events.find((event) => event.name === 'skipped')).toMatchObject({ task: second, culprit: first })
    expect(events.find((event) => event.name === 'retried')).toMatchObject({
      task: first,
      actor: 'bob',
      cause: 'mended',
    })
    expect(events.find((event) => event.name === 'revived')).toMatchObject({ task: second, culprit: first })
    await engine.millrace.cancel([first])
  })

  test('the task that added another is told as its cause', async () => {
    const child = aWorker()
    const parent = aWorker({ onSuccess: async (tx) => void (await tx.add(child, {})) })
    const start = await now()
    const id = await engine.add(parent)
    await engine.drain(parent)
    expect((await toldAfter(start)).find((event) => event.kind === child.kind)).toMatchObject({
      name: 'created',
      culprit: id,
    })
    await engine.drain(child)
  })

  test('what was told of a pruned task goes with it', async () => {
    const start = await now()
    const worker = aWorker()
    const gone = await engine.add(worker, { scope: 'to be pruned' })
    await engine.drain(worker)
    const kept = await engine.add(worker)
    await engine.millrace.prune({ olderThanSeconds: 0, scope: 'to be pruned' })
    const tasks = (await toldAfter(start)).map((event) => event.task)
    expect(tasks).toContain(kept)
    expect(tasks).not.toContain(gone)
    await engine.drain(worker)
  })
})

describe('the order', () => {
  test('what commits late comes later, and is not missed', async () => {
    const worker = aWorker()
    const early = await engine.pool.connect()
    await early.query('begin')
    const late = await engine.add(worker, { client: early })
    const first = await engine.add(worker)
    const position = await now()
    expect((await toldAfter('oldest', { task: first })).length).toBe(2)
    expect(await toldAfter('oldest', { task: late })).toEqual([])
    await early.query('commit')
    early.release()
    const events = await toldAfter(position)
    expect(events.map((event) => [event.task, event.name])).toEqual([
      [late, 'created'],
      [late, 'readied'],
    ])
    await engine.drain(worker)
  })

  test('a transaction of somebody else holds nothing back, however long it runs', async () => {
    const foreign = await engine.pool.connect()
    await foreign.query('create table of_somebody (n int)')
    await foreign.query('begin')
    await foreign.query('insert into of_somebody values (1)')
    const start = await now()
    const worker = aWorker()
    for (let i = 0; i < 3; i += 1) {
      const id = await engine.add(worker)
      const events = await toldAfter(start, { task: id })
      expect(namesOf(events)).toEqual(['created', 'readied'])
    }
    expect((await toldAfter(start)).length).toBe(6)
    await foreign.query('rollback')
    foreign.release()
    expect((await toldAfter(start)).length).toBe(6)
    await engine.drain(worker)
  })

  test('what is rolled back is never told, nor what a savepoint undoes', async () => {
    const start = await now()
    const worker = aWorker()
    const client = await engine.pool.connect()
    await client.query('begin')
    await engine.add(worker, { client })
    await client.query('rollback')
    await client.query('begin')
    const kept = await engine.add(worker, { client })
    await client.query('savepoint here')
    await engine.add(worker, { client })
    await client.query('rollback to savepoint here')
    await now()
    await client.query('commit')
    client.release()
    expect((await toldAfter(start)).map((event) => event.task)).toEqual([kept, kept])
    await engine.drain(worker)
  })

  test('numbers have no gaps and no doubles, whoever gives them at the same time', async () => {
    const start = Number(await now())
    const worker = aWorker()
    const adding = Array.from({ length: 40 }, () => engine.add(worker))
    const numbering = Array.from({ length: 200 }, () => now())
    await Promise.all([...adding, ...numbering])
    const ids = (await toldAfter(String(start))).map((event) => Number(event.id))
    expect(ids).toEqual(Array.from({ length: 80 }, (_, i) => start + 1 + i))
    await engine.drain(worker)
  })

  test('reading one by one gives what reading at once gives', async () => {
    const start = await now()
    const worker = aWorker()
    await engine.millrace.addMany(Array.from({ length: 5 }, () => ({ worker, payload: {} })))
    await engine.drain(worker)
    const all = await toldAfter(start)
    const single: TaskEvent[] = []
    for (let at = start, hasMore = true; hasMore; ) {
      const page = await readEvents(engine.pool, { after: at, limit: 1 })
      single.push(...page.events)
      ;({ next: at, hasMore } = page)
    }
    expect(single).toEqual(all)
    expect(all.length).toBe(20)
  })

  test('more than a page holds is told in order', async () => {
    const start = await now()
    const worker = aWorker()
    const client = await engine.pool.connect()
    await client.query('begin')
    for (let i = 0; i < 1100; i += 1) await publish(client, { name: 'test.counted', scope: 'count', detail: i })
    await client.query('commit')
    client.release()
    const ids = (await engine.millrace.addMany(Array.from({ length: 2500 }, () => ({ worker, payload: {} })))).map(
      (task) => task.id,
    )
    const events = await toldAfter(start)
    expect(events.slice(0, 1100).map((event) => event.detail)).toEqual(Array.from({ length: 1100 }, (_, i) => i))
    expect(events.slice(1100).map((event) => event.task)).toEqual([...ids, ...ids])
    await engine.millrace.cancel(ids)
  })
})

describe('filters', () => {
  test('only what meets all that is asked for is read, and the position moves on without it', async () => {
    const start = await now()
    const worker = aWorker()
    const one = await engine.add(worker, { scope: 'archive:One' })
    const two = await engine.add(worker, { scope: 'archive:Two' })
    await engine.add(worker, { scope: 'archiv' })
    const tasksOf = async (filter: EventFilter) => new Set((await toldAfter(start, filter)).map((event) => event.task))
    expect(await tasksOf({ scope: 'archive:One' })).toEqual(new Set([one]))
    expect(await tasksOf({ scopePrefix: 'archive:' })).toEqual(new Set([one, two]))
    expect(await tasksOf({ scopePrefix: 'archive:', names: ['claimed'] })).toEqual(new Set())
    expect(await tasksOf({ task: two, scope: 'archive:One' })).toEqual(new Set())
    expect(namesOf(await toldAfter(start, { task: two, names: ['readied'] }))).toEqual(['readied'])
    const page = await readEvents(engine.pool, { after: start, filter: { scope: 'none' } })
    expect(page).toEqual({ events: [], next: await now(), hasMore: false })
    await engine.drain(worker)
  })

  test('what is no position, and a limit that cannot be, are refused', async () => {
    await expect(readEvents(engine.pool, { after: '12; drop' })).rejects.toBeInstanceOf(InvalidOption)
    await expect(readEvents(engine.pool, { after: '-1' })).rejects.toBeInstanceOf(InvalidOption)
    await expect(readEvents(engine.pool, { after: '0', limit: 0 })).rejects.toBeInstanceOf(InvalidOption)
  })
})

describe('events of applications', () => {
  test('are told in their place when their transaction commits, and not otherwise', async () => {
    const start = await now()
    const told = { name: 'revision.planned', scope: 'archive:A', actor: 'ann', cause: 'a push', detail: { rev: 12 } }
    await expect(
      transaction(engine.pool, async (tx) => {
        await publish(tx, { ...told, detail: 'undone' })
        throw new Error('no')
      }),
    ).rejects.toThrow('no')
    await engine.millrace.publish(told)
    const [event, ...rest] = await toldAfter(start)
    expect(rest).toEqual([])
    expect(event).toMatchObject({ ...told, task: null, kind: null, from: null, to: null })
  })

  test('a callback tells with its outcome', async () => {
    const worker = aWorker({
      onSuccess: (tx, task) => tx.publish({ name: 'page.fetched', scope: 'pages', task: task.id }),
    })
    const start = await now()
    const { id } = await engine.performOne(worker)
    const events = (await toldAfter(start)).filter((event) => event.task === id)
    expect(namesOf(events)).toEqual(['created', 'readied', 'claimed', 'page.fetched', 'succeeded'])
    expect(events[3]).toMatchObject({ scope: 'pages', kind: worker.kind })
  })

  test.each(['planned', 'Revision.planned', 'revision.', '.planned', 'revision planned', `a.${'b'.repeat(100)}`])(
    'the name %s is refused',
    async (name) => {
      await expect(publish(engine.pool, { name, scope: 's' })).rejects.toBeInstanceOf(InvalidOption)
    },
  )

  test('a detail that cannot be kept is refused', async () => {
    const event = { name: 'a.b', scope: 's' }
    await expect(publish(engine.pool, { ...event, detail: 'half \ud800' })).rejects.toBeInstanceOf(InvalidOption)
    await expect(publish(engine.pool, { ...event, detail: () => 1 })).rejects.toBeInstanceOf(InvalidOption)
  })
})

describe('retention', () => {
  const fill = async (count: number) => {
    for (let i = 0; i < count; i += 1) {
      await engine.millrace.publish({ name: 'test.filled', scope: 'fill', detail: i })
      await now()
    }
  }

  test('more rows than are kept go, the oldest first, and whoever has not seen them is told', async () => {
    await fill(30)
    const newest = await newestPosition(engine.pool)
    expect(await keepOutbox(engine.pool, { rows: 10 })).toBeGreaterThan(0)
    expect(await keepOutbox(engine.pool, { rows: 10 })).toBe(0)
    const oldest = await oldestPosition(engine.pool)
    expect(Number(newest) - Number(oldest)).toBe(10)
    expect((await toldAfter(oldest)).length).toBe(10)
    expect(await toldAfter('oldest')).toEqual(await toldAfter(oldest))
    const gone = readEvents(engine.pool, { after: String(Number(oldest) - 1) })
    await expect(gone).rejects.toMatchObject({ code: 'position_gone', newest })
  })

  test('what is older than it is kept goes, except the end of the line', async () => {
    await fill(3)
    const newest = await newestPosition(engine.pool)
    await keepOutbox(engine.pool, { seconds: 0 })
    expect(await oldestPosition(engine.pool)).toBe(String(Number(newest) - 1))
    await fill(1)
    expect((await toldAfter(newest)).map((event) => event.id)).toEqual([String(Number(newest) + 1)])
  })

  test('a clock that was set back tears no hole into the line', async () => {
    await fill(5)
    const newest = Number(await newestPosition(engine.pool))
    await engine.pool.query(
      `update millrace.outbox_page set at = at - interval '1 day' where first = any($1::bigint[])`,
      [[newest - 1, newest - 2]],
    )
    await keepOutbox(engine.pool, { seconds: 3600 })
    expect((await toldAfter('oldest')).slice(-5).map((event) => Number(event.id))).toEqual(
      Array.from({ length: 5 }, (_, i) => newest - 4 + i),
    )
  })

  test('a position of another database is refused', async () => {
    const ahead = String(Number(await now()) + 1)
    await expect(readEvents(engine.pool, { after: ahead })).rejects.toBeInstanceOf(PositionGone)
    await expect(readEvents(engine.pool, { after: '9'.repeat(18) })).rejects.toBeInstanceOf(PositionGone)
  })

  test('in a copy on a server that counts transactions anew, the line goes on behind a gap', async () => {
    await fill(2)
    const before = Number(await newestPosition(engine.pool))
    // As if the transactions of this database had been counted by a server that was far ahead.
    await engine.pool.query(`update millrace.outbox_page set seen = '9000000000:9000000000:'`)
    await engine.millrace.publish({ name: 'test.lost', scope: 'fill' })
    const restarted = Number(await now())
    await expect(readEvents(engine.pool, { after: String(before) })).rejects.toBeInstanceOf(PositionGone)
    await fill(1)
    expect(namesOf(await toldAfter(String(restarted)))).toEqual(['test.filled'])
    expect(namesOf(await toldAfter('oldest'))).toEqual(['test.filled'])
  })

  test('rows of transactions that this server has not counted yet start the line anew, too', async () => {
    await fill(1)
    const before = await newestPosition(engine.pool)
    await engine.millrace.publish({ name: 'test.lost', scope: 'fill' })
    await engine.pool.query(
      `update millrace.outbox set xid = '9000000000' where id = (select max(id) from millrace.outbox)`,
    )
    await now()
    await expect(readEvents(engine.pool, { after: before })).rejects.toBeInstanceOf(PositionGone)
    await fill(1)
    expect(namesOf(await toldAfter('oldest'))).toEqual(['test.filled'])
  })

  test('a transaction that has written gives no numbers', async () => {
    const inside = transaction(engine.pool, async (tx) => {
      await publish(tx, { name: 'test.filled', scope: 'fill' })
      await tx.query('select millrace.sequence_outbox()')
    })
    await expect(inside).rejects.toThrow('a transaction of their own')
  })
})

test('a dispatcher keeps the outbox small where nobody subscribes', async () => {
  const millrace = await connect({ databaseUrl: engine.databaseUrl, eventRetention: { rows: 3 } })
  const worker = aWorker()
  const dispatcher = millrace.dispatch([worker])
  for (let i = 0; i < 20; i += 1) {
    await millrace.publish({ name: 'test.filled', scope: 'fill' })
    await now()
  }
  await waitFor(async () => {
    const { rows } = await engine.pool.query<{ n: number }>('select count(*)::int as n from millrace.outbox')
    return (rows[0]?.n ?? 20) <= 3 || undefined
  })
  await dispatcher.stop()
  await millrace.close()
})
