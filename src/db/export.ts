// A copy of everything as lines of JSON: what it is, then each table with its rows, then where the sequences stand. A row
// is written as PostgreSQL itself writes it, so that every type comes back as it was.

import { schemaStatus } from './migrate.ts'
import type { Client, Pool } from './pool.ts'
import { LONG_MS, snapshot } from './transaction.ts'

export type ExportHeader = {
  readonly format: 'millrace-export-1'
  readonly schema: number
  readonly tables: Readonly<Record<string, readonly string[]>>
}

const PIECE_BYTES = 4_000_000 // of rows that are fetched at once
const MOST_ROWS = 1_000

/** What decides how values are written; the same on both sides. */
export const FORMS = `set local datestyle = 'ISO, YMD'; set local intervalstyle = 'postgres'; set local timezone = 'UTC';
  set local bytea_output = 'hex'; set local extra_float_digits = 1;
  set local idle_in_transaction_session_timeout = 0`

/** Calls `take` with one line after another, all of one moment. Answers how many rows there were. */
export function exportDatabase(pool: Pool, take: (line: string) => Promise<void>): Promise<number> {
  const work = async (tx: Client) => {
    await tx.query(FORMS)
    const tables = await columnsOf(tx)
    const { version } = await schemaStatus(tx)
    await take(JSON.stringify({ format: 'millrace-export-1', schema: version, tables } satisfies ExportHeader))
    let rows = 0
    for (const table of Object.keys(tables)) {
      await take(JSON.stringify({ table }))
      rows += await exportTable(tx, table, take)
    }
    await take(JSON.stringify({ sequences: await sequencesOf(tx), rows }))
    return rows
  }
  return snapshot(pool, work, { statementMs: LONG_MS })
}

/** Every table of ours with its columns in their order; which schema it is the migrations say. */
export async function columnsOf(tx: Client): Promise<Record<string, string[]>> {
  const { rows } = await tx.query<{ name: string; columns: string[] }>(`
    select c.relname as name, array_agg(a.attname::text order by a.attnum) as columns
    from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
    where c.relnamespace = 'millrace'::regnamespace and c.relkind = 'r' and c.relname <> 'schema_version'
    group by c.relname
    order by c.relname
  `)
  return Object.fromEntries(rows.map(({ name, columns }) => [name, columns]))
}

async function exportTable(tx: Client, table: string, take: (line: string) => Promise<void>): Promise<number> {
  await tx.query(
    `declare leaving no scroll cursor for select t::text as row from millrace.${tx.escapeIdentifier(table)} t`,
  )
  let rows = 0
  let size = 100
  for (;;) {
    const { rows: some } = await tx.query<{ row: string }>(`fetch ${size} from leaving`)
    if (some.length === 0) break
    let bytes = 0
    for (const { row } of some) {
      bytes += row.length
      await take(JSON.stringify(row))
    }
    rows += some.length
    // Rows of output and of artifacts are large: a thousand of them would not fit into the memory.
    size = Math.max(1, Math.min(MOST_ROWS, Math.floor(PIECE_BYTES / (bytes / some.length + 1))))
  }
  await tx.query('close leaving')
  return rows
}

async function sequencesOf(tx: Client): Promise<Record<string, string>> {
  const { rows } = await tx.query<{ name: string; last: string }>(`
    select sequencename as name, last_value::text as last
    from pg_sequences
    where schemaname = 'millrace' and last_value is not null
  `)
  return Object.fromEntries(rows.map(({ name, last }) => [name, last]))
}
