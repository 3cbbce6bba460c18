import { columnsOf, type ExportHeader, FORMS } from './export.ts'
import { schemaStatus } from './migrate.ts'
import type { Client, Pool } from './pool.ts'
import { LONG_MS, transaction } from './transaction.ts'

/** What is to be read in does not fit here; nothing was changed. */
export class ImportRefused extends Error {
  readonly code = 'import_refused'
  readonly remedy: string
  constructor(problem: string, remedy: string) {
    super(problem)
    this.remedy = remedy
  }
}

const PIECE_BYTES = 4_000_000
const MOST_ROWS = 5_000

/** Reads a copy into a database that has the same schema and holds nothing yet: all of it or nothing. Answers how many rows. */
export function importDatabase(pool: Pool, lines: AsyncIterable<string>): Promise<number> {
  // Lines can be read once: a transaction that must begin anew cannot.
  let isBegun = false
  const work = async (tx: Client) => {
    if (isBegun) throw new ImportRefused('the database was busy', 'stop every server and worker on it, and try again')
    isBegun = true
    await tx.query(FORMS)
    const reader = lines[Symbol.asyncIterator]()
    const header = parsed<ExportHeader>((await reader.next()).value)
    await checkFits(tx, header)
    const restore = await takeConstraintsAway(tx)
    const rows = await importRows(tx, reader, header)
    for (const statement of restore) await tx.query(statement)
    return rows
  }
  return transaction(pool, work, { statementMs: LONG_MS })
}

function parsed<T>(line: unknown): T {
  try {
    return JSON.parse(String(line)) as T
  } catch {
    throw new ImportRefused('this is not what `millrace db export` writes', 'give the file that it wrote')
  }
}

async function checkFits(tx: Client, { format, schema, tables }: ExportHeader): Promise<void> {
  if (format !== 'millrace-export-1') {
    throw new ImportRefused('this is not what `millrace db export` writes', 'give the file that it wrote')
  }
  const { version } = await schemaStatus(tx)
  if (schema !== version || JSON.stringify(await columnsOf(tx)) !== JSON.stringify(tables)) {
    throw new ImportRefused(
      `the copy has schema ${schema} and the database has ${version}`,
      'read it in with the release that wrote it, then upgrade with `millrace migrate up`',
    )
  }
  for (const table of ['task', 'node', 'archive', 'token', 'webhook', 'secret']) {
    const { rows } = await tx.query(`select 1 from millrace.${table} limit 1`)
    if (rows.length > 0) {
      throw new ImportRefused(`the database holds something already (${table})`, 'name an empty database')
    }
  }
}

/** Foreign keys would ask for an order that the copy has not. Answers the statements that bring them back, checked. */
async function takeConstraintsAway(tx: Client): Promise<string[]> {
  const { rows } = await tx.query<{ table: string; name: string; definition: string }>(`
    select conrelid::regclass::text as table, quote_ident(conname) as name, pg_get_constraintdef(oid) as definition
    from pg_constraint
    where connamespace = 'millrace'::regnamespace and contype = 'f'
  `)
  for (const { table, name } of rows) await tx.query(`alter table ${table} drop constraint ${name}`)
  return rows.map(({ table, name, definition }) => `alter table ${table} add constraint ${name} ${definition}`)
}

async function importRows(tx: Client, reader: AsyncIterator<string>, { tables }: ExportHeader): Promise<number> {
  let table: string | undefined
  let piece: string[] = []
  let bytes = 0
  let count = 0
  const flush = async () => {
    if (table === undefined || piece.length === 0) return
    const name = `millrace.${tx.escapeIdentifier(table)}`
    await tx.query(`insert into ${name} overriding system value select r.* from unnest($1::${name}[]) r`, [piece])
    count += piece.length
    piece = []
    bytes = 0
  }
  for (let next = await reader.next(); !next.done; next = await reader.next()) {
    const value = parsed<string | { table?: string; sequences?: Record<string, string>; rows?: number }>(next.value)
    if (typeof value === 'string') {
      piece.push(value)
      bytes += value.length
      if (bytes > PIECE_BYTES || piece.length === MOST_ROWS) await flush()
      continue
    }
    await flush()
    if (value.table !== undefined) {
      if (!(value.table in tables))
        throw new ImportRefused(`there is no table ${value.table}`, 'give the file as it was written')
      table = value.table
      // A schema that was just made has a few rows of its own.
      await tx.query(`delete from millrace.${tx.escapeIdentifier(table)}`)
    } else {
      if (value.rows !== count) break
      for (const [name, last] of Object.entries(value.sequences ?? {})) {
        await tx.query('select setval($1::regclass, $2::bigint)', [`millrace.${tx.escapeIdentifier(name)}`, last])
      }
      return count
    }
  }
  throw new ImportRefused('the copy ends in the middle', 'write it once more')
}
