import pg from 'pg'
import type { Bench } from './bench.ts'

/** Brings statistics up to date and dirty pages to disk, so that nobody pays for what was done before. */
export async function settle(bench: Bench, url: string): Promise<void> {
  if (!url.startsWith('postgres')) return
  await query(url, 'vacuum (analyze)')
  await bench.postgres.query('checkpoint')
}

export async function query(url: string, sql: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query(sql)).rows
  } finally {
    await client.end()
  }
}
