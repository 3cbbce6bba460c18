import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createPool, migrate, type Pool, startEmbedded } from '../src/db/index.ts'

/**
 * Lends `body` a connection pool to a freshly migrated database that is dropped afterwards. The server is the one that
 * MILLRACE_TEST_DATABASE_URL names, or an embedded one for the occasion.
 */
export async function withDatabase<T>(body: (pool: Pool) => Promise<T>): Promise<T> {
  const given = process.env['MILLRACE_TEST_DATABASE_URL']
  if (given) return onServer(given, body)
  const dataDir = await mkdtemp(join(tmpdir(), 'millrace-script-'))
  const server = await startEmbedded({ dataDir, durable: false })
  try {
    return await onServer(server.databaseUrl, body)
  } finally {
    await server.stop()
    await rm(dataDir, { recursive: true, force: true })
  }
}

async function onServer<T>(serverUrl: string, body: (pool: Pool) => Promise<T>): Promise<T> {
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
