import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { aWorker, useEngine } from '../../test/engine.ts'
import { drain } from './drain.ts'
import { TransientError } from './index.ts'
import type { TimelineTask } from './timeline.ts'

const engine = useEngine()

const kindsOf = (task: TimelineTask | undefined) => task?.spans.map(({ kind, outcome }) => [kind, outcome])
/** Longer than the clock's grain: a span that nothing fits into is left out. */
const aMoment = () => sleep(3)

test('spans tell where the time of a task went, one after another', async () => {
  let calls = 0
  const worker = aWorker({
    work() {
      calls += 1
      if (calls === 2) throw new TransientError('again', { retryAfterSeconds: 60 })
      return undefined
    },
  })
  const first = await engine.millrace.add(worker, 1)
  const second = await engine.millrace.add(worker, 2, { requires: [first.id] })
  const third = await engine.millrace.add(worker, 3, { requires: [second.id] })
  const held = await engine.millrace.add(worker, 4)
  await engine.millrace.hold(held.id)
  await aMoment()
  await drain(engine.millrace, [worker], { includeDelayed: true })
  const { tasks, edges, critical, now, isCut } = await engine.millrace.timeline([
    first.id,
    second.id,
    third.id,
    held.id,
  ])
  const byId = new Map(tasks.map((task) => [task.id, task]))
  expect(kindsOf(byId.get(first.id))).toEqual([
    ['ready', null],
    ['running', 'succeeded'],
  ])
  // It may have been claimed in the same moment in which it became ready.
  expect(kindsOf(byId.get(second.id))?.filter(([kind]) => kind !== 'ready')).toEqual([
    ['waiting', null],
    ['running', 'retry'],
    ['delayed', null],
    ['running', 'succeeded'],
  ])
  expect(byId.get(held.id)?.spans.at(-1)).toMatchObject({ kind: 'held', to: null })
  for (const { spans } of tasks) {
    for (const [i, span] of spans.entries()) {
      if (i > 0) expect(span.from).toEqual(spans[i - 1]?.to)
      if (span.to !== null) expect(span.to.getTime()).toBeGreaterThanOrEqual(span.from.getTime())
      if (span.kind === 'running') expect(span.worker?.id).toEqual(expect.any(Number))
    }
  }
  expect(edges).toEqual([
    { from: first.id, to: second.id, when: 'succeeded' },
    { from: second.id, to: third.id, when: 'succeeded' },
  ])
  expect([critical, isCut]).toEqual([[held.id], false])
  expect(now).toBeInstanceOf(Date)
  const ended = await engine.millrace.timeline([first.id, second.id, third.id])
  expect(ended.critical).toEqual([first.id, second.id, third.id])
})

test('a task that was asked for again was over in between', async () => {
  const worker = aWorker({ work: () => undefined })
  const { id } = await engine.millrace.add(worker, 1)
  await aMoment()
  await drain(engine.millrace, [worker], { includeDelayed: true })
  await aMoment()
  await engine.millrace.rerun(id)
  await aMoment()
  await drain(engine.millrace, [worker], { includeDelayed: true })
  const { tasks } = await engine.millrace.timeline([id])
  expect(kindsOf(tasks[0])).toEqual([
    ['ready', null],
    ['running', 'succeeded'],
    ['over', null],
    ['ready', null],
    ['running', 'succeeded'],
  ])
})

test('a performance is told of, however short it was', async () => {
  const worker = aWorker({ work: () => undefined })
  const { id } = await engine.millrace.add(worker, 1)
  await drain(engine.millrace, [worker], { includeDelayed: true })
  // As quick as the clock can tell, and a clock that was set back.
  for (const ended of ['started_at', `started_at - interval '5 s'`]) {
    await engine.pool.query(`update millrace.done set finished_at = ${ended} where id = $1`, [id])
    const { tasks } = await engine.millrace.timeline([id])
    const performance = tasks[0]?.spans.find(({ kind }) => kind === 'running')
    expect([performance?.outcome, performance?.to]).toEqual(['succeeded', performance?.from])
  }
})

test('a task that was canceled before it began only waited', async () => {
  const worker = aWorker()
  const first = await engine.millrace.add(worker, 1)
  const { id } = await engine.millrace.add(worker, 2, { requires: [first.id] })
  await engine.millrace.cancel(id)
  const { tasks } = await engine.millrace.timeline([id])
  expect([tasks[0]?.state, kindsOf(tasks[0])]).toEqual(['canceled', [['waiting', null]]])
})

test('what ran in a time is found, of all or of one dispatcher, as many as are asked for', async () => {
  const worker = aWorker()
  const from = new Date('2026-01-01T10:00:00Z')
  const to = new Date('2026-01-01T11:00:00Z')
  const added = await engine.millrace.addMany(Array.from({ length: 6 }, (_, payload) => ({ worker, payload })))
  const ids = added.map(({ id }) => id)
  await engine.pool.query('delete from millrace.live where id = any($1)', [ids])
  await engine.pool.query(
    `insert into millrace.done (id, ready_at, started_at, finished_at, holder, epoch, state)
     select asked.id, at, at, at + interval '1 min', case when n <= 2 then 991 else 992 end, 1, 'succeeded'
     from unnest($1::bigint[]) with ordinality asked(id, n)
       cross join lateral (values (timestamptz '2026-01-01 10:00Z' + make_interval(mins => n::int * 15))) times(at)`,
    [ids],
  )
  const idsOf = async (more: { dispatcher?: number; limit?: number }) => {
    const found = await engine.millrace.timelineOf({ from, to, limit: 10, ...more })
    return { ids: found.tasks.map(({ id }) => id), isCut: found.isCut }
  }
  expect(await idsOf({})).toEqual({ ids: ids.slice(0, 4), isCut: false })
  expect(await idsOf({ dispatcher: 991 })).toEqual({ ids: ids.slice(0, 2), isCut: false })
  const some = await idsOf({ limit: 2 })
  expect([some.ids.length, some.isCut]).toEqual([2, true])
})

test('a time long past does not cost what ended since: who ended days later is not told of', async () => {
  const worker = aWorker()
  const added = await engine.millrace.addMany([1, 2, 3].map((payload) => ({ worker, payload })))
  const ids = added.map(({ id }) => id)
  await engine.pool.query('delete from millrace.live where id = any($1)', [ids])
  await engine.pool.query(
    `insert into millrace.done (id, ready_at, started_at, finished_at, holder, epoch, state)
     select asked.id, at, at, at + make_interval(hours => (n::int - 1) * 20), 993, 1, 'succeeded'
     from unnest($1::bigint[]) with ordinality asked(id, n)
       cross join (values (timestamptz '2025-01-01 10:00Z')) times(at)`,
    [ids],
  )
  const window = { from: new Date('2025-01-01T10:00:00Z'), to: new Date('2025-01-01T11:00:00Z'), limit: 10 }
  const found = await engine.millrace.timelineOf(window)
  expect(found.tasks.map(({ id }) => id)).toEqual(ids.slice(0, 2))
})
