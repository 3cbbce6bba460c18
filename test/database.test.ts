import { expect, test } from 'vitest'
import { schemaStatus } from '../src/db/index.ts'
import { database } from './database.ts'

test('a test database has the current schema', async () => {
  await using db = await database()
  const status = await schemaStatus(db.pool)
  expect(status).toMatchObject({ pending: [], functionsCurrent: true })
})

test('what one test database holds another does not see', async () => {
  await using one = await database()
  await using other = await database()
  await one.pool.query('create table only_here (id int)')
  const { rows } = await other.pool.query(`select to_regclass('only_here') as found`)
  expect(rows).toEqual([{ found: null }])
})

test('a test database is gone after use', async () => {
  await using outer = await database()
  let name = ''
  {
    await using db = await database()
    name = new URL(db.databaseUrl).pathname.slice(1)
  }
  const { rowCount } = await outer.pool.query('select from pg_database where datname = $1', [name])
  expect(rowCount).toBe(0)
})
