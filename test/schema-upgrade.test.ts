// Databases of earlier releases: each schema with a task of every state in it, and then this release.
import { readdirSync } from 'node:fs'
import { expect, onTestFinished, test } from 'vitest'
import { createPool, migrate, migrationSql, schemaStatus } from '../src/db/index.ts'
import { connect, type TaskState } from '../src/engine/index.ts'
import { drain } from '../src/testing.ts'
import { emptyDatabase } from './database.ts'
import { aWorker } from './engine.ts'

const files = readdirSync(new URL('../migrations/', import.meta.url))
const migrations = files.filter((name) => /^\d{4}_/.test(name)).sort()
/** The first, those with which the tables of tasks got another index, and the one before the newest. */
const EARLIER = [1, 7, 14, migrations.length - 1]

const worker = aWorker({ kind: 'kept' })

/** One task of every state, by the tables that have been there from the first schema on. The number is the id. */
const TASKS: Readonly<Record<number, TaskState>> = {
  1: 'succeeded',
  2: 'failed',
  3: 'canceled',
  4: 'skipped', // it waits for 2
  5: 'ready',
  6: 'running', // on a dispatcher that is gone
  7: 'delayed',
  8: 'waiting', // for 5
  9: 'held',
}
const ROWS = `
insert into millrace.lane (queue, kind) values ('default', 'kept');
insert into millrace.dispatcher (name, lease_seconds, expires_at) values ('gone', 30, now() - interval '1 hour');
insert into millrace.task (id, created_at, lane, scope, key, payload)
select nextval('millrace.task_id'), now(), 1, 'earlier', 'task ' || n, jsonb_build_object('n', n) from generate_series(1, 9) n;
insert into millrace.edge (prerequisite, dependent) values (2, 4), (5, 8);
insert into millrace.done (id, ready_at, started_at, holder, epoch, state, prior, culprit, cause, error, output) values
  (1, now(), now(), 1, 1, 'succeeded', null, null, null, null, '{"n": 1}'),
  (2, now(), now(), 1, 1, 'failed', null, null, null, '{"category": "permanent", "name": "PermanentError", "message": "no"}', null),
  (3, now(), null, null, 0, 'canceled', 'ready', null, 'not needed', null, null),
  (4, null, null, null, 0, 'skipped', 'waiting', 2, null, null, null);
insert into millrace.attempt (task, epoch, outcome, ready_at, started_at, holder, next, error) values
  (7, 1, 'retry', now(), now(), 1, 'delayed', '{"category": "transient", "name": "TransientError", "message": "busy"}');
insert into millrace.live (id, lane, state, ready_order, ready_at, started_at, holder, epoch, not_before, unmet, held_by, failures) values
  (5, 1, 'ready', nextval('millrace.ready_order'), now(), null, null, 0, null, 0, null, 0),
  (6, 1, 'running', nextval('millrace.ready_order'), now(), now(), 1, 1, null, 0, null, 0),
  (7, 1, 'delayed', null, null, null, null, 1, now() + interval '1 hour', 0, null, 1),
  (8, 1, 'waiting', null, null, null, null, 0, null, 1, null, 0),
  (9, 1, 'held', null, null, null, null, 0, null, 0, 'ann', 0);
`

/** The release's own script for an empty database, ended after the migration of that number. */
async function scriptUpTo(version: number): Promise<string> {
  const script = await migrationSql(0)
  const end = script.indexOf(`-- ${migrations[version]}\n`)
  expect(end).toBeGreaterThan(0)
  return `${script.slice(0, end)} update millrace.schema_version set version = ${version}; commit;`
}

test.each(EARLIER)('tasks of schema %i are read, claimed and finished by this release', async (version) => {
  await using db = await emptyDatabase()
  const pool = createPool({ databaseUrl: db.databaseUrl })
  onTestFinished(() => pool.end())
  await pool.query(await scriptUpTo(version))
  await pool.query(ROWS)
  const { pending } = await schemaStatus(pool)
  expect(pending).toEqual(migrations.slice(version))
  expect(await migrate(pool)).toEqual([...pending, 'functions'])

  const millrace = await connect({ databaseUrl: db.databaseUrl })
  onTestFinished(() => millrace.close())
  const ids = Object.keys(TASKS)
  const states = () => Promise.all(ids.map(async (id) => (await millrace.task(id)).state))
  expect(await states()).toEqual(Object.values(TASKS))
  expect(await millrace.verify()).toEqual([])

  await pool.query('select millrace.expire()')
  await millrace.retry(['2', '3'])
  await millrace.release('9')
  const { performed } = await drain(millrace, [worker], { includeDelayed: true })
  expect(performed.map(({ id }) => id).sort()).toEqual(ids.filter((id) => id !== '1'))
  expect(await states()).toEqual(ids.map(() => 'succeeded'))
  expect(await millrace.verify()).toEqual([])
  const story = async (id: string) => (await millrace.history(id)).map((entry) => entry.name)
  expect(await story('6')).toEqual(['created', 'readied', 'claimed', 'lease_lost', 'readied', 'claimed', 'succeeded'])
  expect(await millrace.add(worker, {})).toMatchObject({ id: '10' })
})
