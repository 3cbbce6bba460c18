import { schemaStatus } from './migrate.ts'
import type { Db } from './pool.ts'

export type DatabaseFacts = { readonly version: string; readonly schema: number; readonly sizeBytes: number }

/** Which PostgreSQL this is, which migrations were made there, and how large it has become. */
export async function describeDatabase(db: Db): Promise<DatabaseFacts> {
  const { rows } = await db.query<{ version: string; size: string }>({
    text: `select current_setting('server_version') as version, pg_database_size(current_database())::text as size`,
  })
  const { version: schema } = await schemaStatus(db)
  return { version: rows[0]?.version ?? 'unknown', schema, sizeBytes: Number(rows[0]?.size ?? 0) }
}
