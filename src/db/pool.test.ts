import { expect, test } from 'vitest'
import { proxyTo } from '../../test/crash/proxy.ts'
import { database } from '../../test/database.ts'
import { createPool, type Pool } from './pool.ts'
import { isLate, LONG_MS, transaction, unhurried } from './transaction.ts'

const ANSWER_MS = 1_000

function poolOf(databaseUrl: string) {
  const pool = createPool({ databaseUrl, answerMs: ANSWER_MS, onError: () => {} })
  return { pool, [Symbol.asyncDispose]: () => pool.end() }
}

async function warm(pool: Pool, count: number): Promise<void> {
  const clients = await Promise.all(Array.from({ length: count }, () => pool.connect()))
  for (const client of clients) client.release()
}

const sleepFor = (seconds: number) => ({ text: `select pg_sleep(${seconds})` })

test('once one connection is silent, the idle ones to the same server are given up in every pool', async () => {
  await using db = await database()
  await using proxy = await proxyTo(db.databaseUrl)
  await using one = poolOf(proxy.databaseUrl)
  await using other = poolOf(proxy.databaseUrl)
  await using elsewhere = poolOf(db.databaseUrl)
  await warm(one.pool, 5)
  await warm(other.pool, 3)
  await warm(elsewhere.pool, 2)
  proxy.strand()
  const refused = await one.pool.query('select').catch((error: unknown) => error)
  expect(isLate(refused)).toBe(true)
  expect([one, other, elsewhere].map(({ pool }) => pool.idleCount)).toEqual([0, 0, 2])
  for (const { pool } of [one, other]) expect((await pool.query('select 1 as n')).rows).toEqual([{ n: 1 }])
})

test('a connection that did not answer once is closed, whatever its transaction does next', async () => {
  await using db = await database()
  await using proxy = await proxyTo(db.databaseUrl)
  await using of = poolOf(proxy.databaseUrl)
  const failures: string[] = []
  const note = (error: Error) => {
    failures.push(error.message)
  }
  const refused = transaction(of.pool, async (tx) => {
    proxy.strand()
    await tx.query('select').catch(note)
    await tx.query('select').catch(note)
  })
  await expect(refused).rejects.toThrow()
  expect(failures).toEqual(['Query read timeout', expect.stringMatching(/terminated/)])
  await expect.poll(() => of.pool.totalCount).toBe(0)
})

test('who waits for a free connection waits no longer than the limit', async () => {
  await using db = await database()
  const pool = createPool({ databaseUrl: db.databaseUrl, max: 1, connectMs: ANSWER_MS })
  const client = await pool.connect()
  const refused = await pool.query('select').catch((error: unknown) => error)
  expect(isLate(refused)).toBe(true)
  client.release()
  await pool.query('select')
  await pool.end()
})

test('a statement beyond the limit is cut, where it is meant to take long it is not', async () => {
  await using db = await database()
  await using of = poolOf(db.databaseUrl)
  const long = sleepFor((2 * ANSWER_MS) / 1000)
  const patient = { statementMs: LONG_MS }
  const [cut, cutInTransaction, ...isDone] = await Promise.allSettled([
    of.pool.query(long),
    transaction(of.pool, (tx) => tx.query(long)),
    transaction(of.pool, (tx) => tx.query(long), patient),
    unhurried(of.pool).query(long),
  ])
  expect([cut?.status, cutInTransaction?.status]).toEqual(['rejected', 'rejected'])
  expect(isDone.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled'])
  // The patience ends with the transaction.
  await expect(of.pool.query(long)).rejects.toThrow('Query read timeout')
})

test('the server keeps the limits too, longer ones where it is meant to take long', async () => {
  await using db = await database()
  await using of = poolOf(db.databaseUrl)
  const limits = async (on: Pick<Pool, 'query'>) => {
    const { rows } = await on.query(
      `select name, setting::int from pg_settings
       where name in ('statement_timeout', 'idle_in_transaction_session_timeout') order by name`,
    )
    return (rows as { setting: number }[]).map(({ setting }) => setting)
  }
  expect(await limits(of.pool)).toEqual([6_000, 6_000])
  const patient = { statementMs: LONG_MS }
  expect(await transaction(of.pool, (tx) => limits(tx as unknown as Pool), patient)).toEqual([120_000, LONG_MS])
  expect(await limits(of.pool)).toEqual([6_000, 6_000])
})
