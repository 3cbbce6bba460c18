import { expect, test } from 'vitest'
import { aWorker, useEngine } from '../../test/engine.ts'
import { heardDuring } from '../../test/notifications.ts'
import { register, rehearse } from './dispatchers.sql.ts'

const engine = useEngine()

const TABLES = ['task', 'live', 'done', 'edge', 'event', 'outbox', 'effect', 'attempt', 'idle']

/** Whatever is in the tables that a step writes to. */
async function everything(): Promise<unknown> {
  const rows = TABLES.map((table) => `(select coalesce(json_agg(x), '[]') from millrace.${table} x)`)
  const { rows: found } = await engine.pool.query(`select json_build_array(${rows.join(', ')}) as all`)
  return found[0].all
}

async function aHolder(): Promise<number> {
  const of = { name: 'rehearsing', lease_seconds: 60, lanes: [], host: 'here', facts: '{}', before: null }
  return (await register(engine.pool, of)).id
}

/** How often each function was called by a rehearsal. */
async function called(holder: number, lanes: number): Promise<Record<string, number>> {
  const client = await engine.pool.connect()
  try {
    await client.query(`set track_functions = 'all'`)
    await client.query('begin')
    await rehearse(client, { holder, lanes })
    const { rows } = await client.query('select funcname, calls::int from pg_stat_xact_user_functions')
    await client.query('rollback')
    return Object.fromEntries(rows.map(({ funcname, calls }) => [funcname, calls]))
  } finally {
    client.release(true)
  }
}

test.each([1, 3])('with lanes: %i, a rehearsal goes through all that steps do', async (lanes) => {
  // A hop that came to something neither settles nor leases.
  const calls = { step: 4, hop: 1, finish: 1, settle: 1, unblock: 1, lease: 3 }
  expect(await called(await aHolder(), lanes)).toMatchObject(calls)
})

test('a rehearsal leaves nothing behind, wakes nobody, and touches nothing that is there', async () => {
  const holder = await aHolder()
  const [first] = await engine.millrace.addMany([{ worker: aWorker(), payload: 1 }])
  await engine.millrace.addMany([{ worker: aWorker(), payload: 2, requires: [first?.id as string] }])
  await engine.pool.query(`insert into millrace.idle (dispatcher, lanes) values ($1, '{0}')`, [holder])
  const before = await everything()
  expect(await heardDuring(engine.pool, (client) => rehearse(client, { holder, lanes: 2 }))).toEqual([])
  expect(await everything()).toEqual(before)
})

test('where something is due or pending nothing is rehearsed', async () => {
  const holder = await aHolder()
  expect(await called(holder, 1)).toHaveProperty('step')
  const due = await engine.add(aWorker(), { delaySeconds: 3600 })
  expect(await called(holder, 1)).toHaveProperty('step')
  await engine.pool.query('update millrace.live set not_before = now() where id = $1', [due])
  expect(await called(holder, 1)).not.toHaveProperty('step')
  await engine.pool.query('update millrace.live set not_before = null, state = $2 where id = $1', [due, 'ready'])
  await engine.pool.query(`insert into millrace.effect (kind, ref) values ('skip', 0)`)
  expect(await called(holder, 1)).not.toHaveProperty('step')
  await engine.pool.query('delete from millrace.effect')
})
