import { randomUUID } from 'node:crypto'
import pg from 'pg'
import { inject } from 'vitest'
import { createPool, migrate, type Pool } from '../src/db/index.ts'

export type TestDatabase = AsyncDisposable & {
  readonly databaseUrl: string
  readonly pool: Pool
  /** Errors of idle connections, for tests that break them on purpose. */
  readonly errors: readonly Error[]
}

/**
 * A migrated database of the caller's own, cloned from the run's template; dropped in the end, with
 * whatever is still connected to it.
 */
export async function database(options: { max?: number } = {}): Promise<TestDatabase> {
  const serverUrl = inject('serverUrl')
  const name = `test_${randomUUID().replaceAll('-', '')}`
  // Copies files. The other way reads the template page by page and writes each to the log.
  await administer(serverUrl, `create database ${name} template ${inject('template')} strategy file_copy`)
  const databaseUrl = withDatabase(serverUrl, name)
  const errors: Error[] = []
  const pool = createPool({ databaseUrl, max: options.max ?? 10, onError: (error) => errors.push(error) })
  return {
    databaseUrl,
    pool,
    errors,
    async [Symbol.asyncDispose]() {
      await pool.end()
      await administer(serverUrl, `drop database ${name} with (force)`)
    },
  }
}

/** An empty database, without even the schema, of the caller's own. */
export async function emptyDatabase(): Promise<AsyncDisposable & { readonly databaseUrl: string }> {
  const serverUrl = inject('serverUrl')
  const name = `test_${randomUUID().replaceAll('-', '')}`
  await administer(serverUrl, `create database ${name}`)
  return {
    databaseUrl: withDatabase(serverUrl, name),
    [Symbol.asyncDispose]: () => administer(serverUrl, `drop database ${name} with (force)`),
  }
}

export async function createTemplate(serverUrl: string, name: string): Promise<void> {
  await administer(serverUrl, `create database ${name}`)
  const pool = createPool({ databaseUrl: withDatabase(serverUrl, name) })
  try {
    await migrate(pool)
  } finally {
    await pool.end()
  }
  // A session that begins after the last change writes the caches with which those of every clone begin.
  await administer(withDatabase(serverUrl, name), 'select 1')
  // A template that somebody is connected to cannot be cloned.
  await administer(serverUrl, `alter database ${name} with allow_connections false`)
}

export async function dropTemplate(serverUrl: string, name: string): Promise<void> {
  await administer(serverUrl, `drop database ${name} with (force)`)
}

async function administer(serverUrl: string, sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: serverUrl })
  await client.connect()
  try {
    await client.query(sql)
  } finally {
    await client.end()
  }
}

function withDatabase(serverUrl: string, name: string): string {
  const url = new URL(serverUrl)
  url.pathname = `/${name}`
  return url.href
}
