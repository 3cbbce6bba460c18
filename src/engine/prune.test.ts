import { expect, test } from 'vitest'
import { aWorker, mendable, useEngine } from '../../test/engine.ts'
import { createPool } from '../db/index.ts'
import { TaskNotFound } from './errors.ts'
import { prune } from './prune.ts'

const engine = useEngine()

const isThere = (id: string) =>
  engine.millrace.task(id).then(
    () => true,
    (error: unknown) => {
      expect(error).toBeInstanceOf(TaskNotFound)
      return false
    },
  )

test('what has ended is deleted with all that is kept of it', async () => {
  const { worker, broken } = mendable()
  broken.add('a')
  const a = await engine.add(worker, { scope: 'gone' }, 'a')
  const b = await engine.add(worker, { scope: 'gone', requires: [a] }, 'b')
  await engine.drain(worker)
  await engine.millrace.retry(a)
  broken.clear()
  await engine.drain(worker)
  await engine.pool.query(
    `insert into millrace.output (task, attempt, start, stdout_start, stderr_start, stdout_length, stderr_length, bytes)
     values ($1, 1, 0, 0, 0, 1, 0, 'x'), ($2, 1, 0, 0, 0, 1, 0, 'x')`,
    [a, b],
  )
  expect(await engine.millrace.prune({ olderThanSeconds: 0, scope: 'gone' })).toBe(2)
  expect(await Promise.all([a, b].map(isThere))).toEqual([false, false])
  for (const table of ['attempt', 'event', 'output']) {
    const { rows } = await engine.pool.query(`select from millrace.${table} where task in ($1, $2)`, [a, b])
    expect(rows).toEqual([])
  }
  const { rows } = await engine.pool.query('select from millrace.edge where dependent = $1', [b])
  expect(rows).toEqual([])
})

test('live work is never touched', async () => {
  const worker = aWorker()
  const required = await engine.add(aWorker())
  const ids = [
    await engine.add(worker),
    await engine.add(worker, { requires: [required] }),
    await engine.add(worker, { delaySeconds: 60 }),
    await engine.add(worker, { heldBy: 'ada' }),
  ]
  const dispatcher = await engine.byHand([worker])
  const [run] = await dispatcher.claim()
  await engine.millrace.prune({ olderThanSeconds: 0 })
  expect(await engine.states(...ids)).toEqual(['running', 'waiting', 'delayed', 'held'])
  if (run) expect(await dispatcher.perform(run)).toMatchObject({ outcome: 'succeeded' })
})

test('what unfinished work requires stays, until that has ended', async () => {
  const [worker, other] = [aWorker(), aWorker()]
  const required = await engine.add(worker)
  await engine.drain(worker)
  const id = await engine.add(other, { requires: [required], heldBy: 'ada' })
  await engine.millrace.prune({ olderThanSeconds: 0 })
  expect(await isThere(required)).toBe(true)
  await engine.millrace.release(id)
  await engine.drain(other)
  await engine.millrace.prune({ olderThanSeconds: 0 })
  expect(await Promise.all([required, id].map(isThere))).toEqual([false, false])
})

test('a culprit stays as long as what was skipped because of it', async () => {
  const { worker, broken } = mendable()
  broken.add('a')
  const a = await engine.add(worker, {}, 'a')
  const b = await engine.add(worker, { requires: [a] }, 'b')
  await engine.drain(worker)
  await engine.millrace.prune({ olderThanSeconds: 0, states: ['failed'] })
  expect(await isThere(a)).toBe(true)
  expect((await engine.millrace.why(b)).culprits).toEqual([a])
  broken.clear()
  await engine.millrace.retry(a)
  await engine.drain(worker)
  expect(await engine.states(a, b)).toEqual(['succeeded', 'succeeded'])
})

test('only what is old enough, of that kind, scope and state', async () => {
  const { worker, broken } = mendable()
  const other = aWorker()
  broken.add('bad')
  const good = await engine.add(worker, {}, 'good')
  const bad = await engine.add(worker, {}, 'bad')
  const apart = await engine.add(worker, { scope: 'apart' }, 'apart')
  const foreign = await engine.add(other)
  await engine.drain(worker, other)
  const rule = { kind: worker.kind, scope: 'default', states: ['succeeded'] as const }
  expect(await engine.millrace.prune({ ...rule, olderThanSeconds: 3600 })).toBe(0)
  expect(await engine.millrace.prune({ ...rule, olderThanSeconds: 0 })).toBe(1)
  expect(await Promise.all([good, bad, apart, foreign].map(isThere))).toEqual([false, true, true, true])
})

test('at most so many', async () => {
  const worker = aWorker()
  await engine.millrace.addMany(Array.from({ length: 5 }, (_, payload) => ({ worker, payload })))
  await engine.drain(worker)
  const rule = { kind: worker.kind, olderThanSeconds: 0 }
  expect(await engine.millrace.prune({ ...rule, limit: 2 })).toBe(2)
  expect(await engine.millrace.prune(rule)).toBe(3)
})

test('a key can be used again after its task was deleted', async () => {
  const worker = aWorker()
  await engine.add(worker, { key: 'again', scope: 'pruned' }, 1)
  await engine.drain(worker)
  await engine.millrace.prune({ olderThanSeconds: 0, scope: 'pruned' })
  expect((await engine.millrace.add(worker, 2, { key: 'again', scope: 'pruned' })).isNew).toBe(true)
})

test('deleting may take longer than other statements', async () => {
  const worker = aWorker()
  const id = await engine.add(worker, { scope: 'slow' })
  await engine.drain(worker)
  await engine.pool.query(`
    create function wait() returns trigger language plpgsql as $$ begin perform pg_sleep(2); return old; end $$;
    create trigger slow before delete on millrace.task for each row execute function wait()`)
  const impatient = createPool({ databaseUrl: engine.databaseUrl, answerMs: 1_000 })
  expect(await prune(impatient, { olderThanSeconds: 0, scope: 'slow' })).toBe(1)
  expect(await isThere(id)).toBe(false)
  await impatient.end()
})
