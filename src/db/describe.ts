import { schemaStatus } from './migrate.ts'
import type { Db } from './pool.ts'

export type DatabaseFacts = { readonly version: string; readonly schema: number; readonly sizeBytes: number }

/** Which PostgreSQL this is, which migrations were made there, and how large it has become. */
export async function describeDatabase(db: Db): Promise<DatabaseFacts> {
  const { rows } = await db.query({
    text: `select current_setting('server_version') as version, pg_database_size(current_database())::text as size`,
  })
  const { version: schema } = await schemaStatus(db)
  const [row] = rows as { version: string; size: string }[]
  return { version: row?.version ?? 'unknown', schema, sizeBytes: Number(row?.size ?? 0) }
}
