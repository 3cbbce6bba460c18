import { randomBytes } from 'node:crypto'
import { createPool, migrate, type Pool } from '../src/db/index.ts'

/**
 * Lends `body` a connection pool to a freshly migrated database that is dropped afterwards. The server is the one that
 * MILLRACE_TEST_DATABASE_URL names.
 */
export async function withDatabase<T>(body: (pool: Pool) => Promise<T>): Promise<T> {
  const serverUrl = process.env['MILLRACE_TEST_DATABASE_URL']
  if (!serverUrl) throw new Error('MILLRACE_TEST_DATABASE_URL names no server')
  const name = `millrace_script_${randomBytes(6).toString('hex')}`
  const server = createPool({ databaseUrl: serverUrl, max: 1 })
  try {
    await server.query(`create database ${name}`)
    const databaseUrl = new URL(serverUrl)
    databaseUrl.pathname = `/${name}`
    const pool = createPool({ databaseUrl: databaseUrl.href, max: 2 })
    try {
      await migrate(pool)
      return await body(pool)
    } finally {
      await pool.end()
      await server.query(`drop database ${name} with (force)`)
    }
  } finally {
    await server.end()
  }
}
