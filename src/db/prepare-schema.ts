import { migrate, type SchemaStatus, SchemaTooNew, schemaStatus } from './migrate.ts'
import type { Db, Pool } from './pool.ts'
import { DatabaseUnusable } from './unusable.ts'

/** Brings the schema up to date and answers what was applied, or with `never` refuses one that is not. */
export async function prepareSchema(pool: Pool, when: 'auto' | 'never'): Promise<string[]> {
  if (when === 'auto') return migrate(pool)
  const status = await schemaStatus(pool)
  // No migration leads back: it must not be named as the remedy.
  if (status.version > status.known) throw new SchemaTooNew(status.version, status.known)
  const problem = problemOf(status)
  if (problem !== undefined)
    throw new DatabaseUnusable(problem, 'run millrace migrate up, or set MILLRACE_MIGRATE=auto')
  return []
}

/** Undefined when the schema is this release's; otherwise what is wrong with it. */
export async function schemaProblem(db: Db): Promise<string | undefined> {
  return problemOf(await schemaStatus(db))
}

function problemOf({ version, known, pending, functionsCurrent }: SchemaStatus): string | undefined {
  if (version > known) return `the database has schema ${version} and this release knows ${known}`
  if (pending.length > 0) return `the database has schema ${version} and this release needs ${known}`
  return functionsCurrent ? undefined : "the database's functions are not those of this release"
}
