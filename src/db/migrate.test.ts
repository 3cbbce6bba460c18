import { expect, test } from 'vitest'
import { database, emptyDatabase } from '../../test/database.ts'
import { migrate, SchemaTooNew, schemaStatus } from './migrate.ts'
import { createPool } from './pool.ts'
import { transaction } from './transaction.ts'

test('of five that migrate an empty database at once, one does the work and the others find it done', async () => {
  await using db = await emptyDatabase()
  const pool = createPool({ databaseUrl: db.databaseUrl, max: 5 })
  try {
    const { pending, known } = await schemaStatus(pool)
    expect(pending.length).toBeGreaterThan(0)
    const applied = await Promise.all(Array.from({ length: 5 }, () => migrate(pool)))
    expect(pool.totalCount).toBe(5)
    expect(applied.filter((names) => names.length > 0)).toEqual([[...pending, 'functions']])
    expect(await schemaStatus(pool)).toEqual({ version: known, known, pending: [], functionsCurrent: true })
  } finally {
    await pool.end()
  }
})

test('a database of a newer release is refused, and left as it is', async () => {
  await using db = await database()
  const { known } = await schemaStatus(db.pool)
  const newer = `update millrace.schema_version set version = ${known + 1}, functions_digest = 'newer' returning *, xmin`
  const before = await db.pool.query(newer)
  const refusal = await migrate(db.pool).catch((error: unknown) => error)
  expect(refusal).toBeInstanceOf(SchemaTooNew)
  expect(refusal).toMatchObject({
    code: 'schema_too_new',
    message: expect.stringContaining(`the database has schema ${known + 1} and this release knows ${known}`),
  })
  const after = await db.pool.query('select *, xmin from millrace.schema_version')
  expect(after.rows).toEqual(before.rows)
})

test('one that waits for another that migrates waits longer than for other answers', async () => {
  await using db = await emptyDatabase()
  const pool = createPool({ databaseUrl: db.databaseUrl, answerMs: 1_000 })
  const other = createPool({ databaseUrl: db.databaseUrl })
  try {
    const held = transaction(other, async (tx) => {
      await tx.query('select pg_advisory_xact_lock(7420001)')
      await tx.query('select pg_sleep(2)')
    })
    await expect
      .poll(async () => (await pool.query(`select from pg_locks where locktype = 'advisory'`)).rowCount)
      .toBe(1)
    expect(await migrate(pool)).toContain('functions')
    await held
  } finally {
    await pool.end()
    await other.end()
  }
})
