// While somebody's long snapshot keeps vacuum away, a dispatcher does not begin at the start of all that is gone.
import pg from 'pg'
import { expect, test } from 'vitest'
import { aWorker, useEngine } from '../../test/engine.ts'
import { beginBehind, heartbeat, register, unregister } from './dispatchers.sql.ts'

const engine = useEngine()
const FEW = 100_000

/** As many rows that are gone and that nobody may vacuum while the answered client is connected. */
async function gone(count: number): Promise<pg.Client> {
  const holder = new pg.Client({ connectionString: engine.databaseUrl })
  await holder.connect()
  await holder.query('begin isolation level repeatable read')
  await holder.query('select 1 from millrace.live limit 1')
  const held = aWorker()
  await engine.millrace.addMany(Array.from({ length: 2_000 }, () => ({ worker: held, payload: 0 })))
  for (let n = 0; n <= count; n += 2_000) await engine.pool.query('update millrace.live set deaths = deaths')
  await expect
    .poll(async () => {
      const { rows } = await engine.pool.query(
        `select pg_stat_clear_snapshot(), pg_stat_get_dead_tuples('millrace.live'::regclass)::int as dead`,
      )
      return rows[0].dead
    })
    .toBeGreaterThan(count)
  return holder
}

async function aDispatcher(lanes: readonly number[], reached: readonly unknown[], isOver = false): Promise<number> {
  const facts = { lease_seconds: 1000, lanes, host: 'h', facts: '{}', before: null }
  const { id: holder } = await register(engine.pool, { name: 'd', ...facts })
  await heartbeat(engine.pool, { holder, reached: JSON.stringify(reached) })
  if (isOver) {
    await unregister(engine.pool, { holder, reached: null })
    await engine.pool.query('update millrace.dispatcher set dead_at = now(), swept_at = now() where id = $1', [holder])
  }
  return holder
}

test('while little is gone it begins at the start; otherwise where the farthest was, but before what one may give back', async () => {
  await aDispatcher([901], [[901, 0, '10', null]], true)
  await aDispatcher([901, 902], [[901, 0, '50', null], [902, 7, '20', '15']], true) // biome-ignore format: a row each
  await aDispatcher([901], [[901, 0, '90', '81'], [903, 0, '5', null]]) // biome-ignore format: a row each
  await aDispatcher([901], [[901, 0, '40', null]])
  const little = await beginBehind(engine.pool, { lanes: [901, 902], few: String(FEW) })
  expect(little.marks).toBeNull()
  const much = await beginBehind(engine.pool, { lanes: [901, 902], few: '-1' })
  expect(much.marks?.sort()).toEqual([[901, 0, '80']])
  await engine.pool.query('update millrace.dispatcher set swept_at = now() where 901 = any(lanes)')
  // Of those that are over, the last one.
  expect((await beginBehind(engine.pool, { lanes: [901], few: '-1' })).marks).toEqual([[901, 0, '40']])
  expect((await beginBehind(engine.pool, { lanes: [902], few: '-1' })).marks).toEqual([[902, 7, '14']])
  expect((await beginBehind(engine.pool, { lanes: [904], few: '-1' })).marks).toBeNull()
})

test('one that begins behind others performs what is new, and soon what lay before their marks', async () => {
  const performed: unknown[] = []
  const worker = aWorker({ work: ({ payload }) => void performed.push(payload) })
  // As if tasks by the million had been ready before.
  await engine.pool.query(`select setval('millrace.ready_order', 50000000)`)
  const late = new pg.Client({ connectionString: engine.databaseUrl })
  await late.connect()
  const holder = await gone(FEW)
  try {
    await late.query('begin')
    await engine.millrace.add(worker, 'late', { client: late })
    for (const payload of ['a', 'b']) await engine.millrace.add(worker, payload)
    const first = engine.millrace.dispatch([worker])
    await expect.poll(() => performed).toEqual(['a', 'b'])
    await first.stop()
    await late.query('commit')
    const { rows } = await engine.pool.query('select reached from millrace.dispatcher order by id desc limit 1')
    expect(rows[0].reached).toHaveLength(1)
    for (const payload of ['c', 'd']) await engine.millrace.add(worker, payload)
    const second = engine.millrace.dispatch([worker])
    await expect.poll(() => performed.length).toBe(5)
    expect(performed.filter((payload) => payload !== 'late')).toEqual(['a', 'b', 'c', 'd'])
    await second.stop()
  } finally {
    await late.end()
    await holder.end()
  }
})
