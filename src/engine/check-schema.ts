import { type Db, type SchemaStatus, schemaStatus } from '../db/index.ts'
import { SchemaRefused } from './errors.ts'

const MIGRATE = 'connect with `migrate: true`, or run `millrace migrate up`'

/** Throws `SchemaRefused` unless the database has this release's schema, or may get it. */
export async function checkSchema(db: Db, mayMigrate: boolean): Promise<void> {
  const refusal = refusalOf(await schemaStatus(db))
  if (refusal !== undefined && !(mayMigrate && refusal.code !== 'schema_too_new')) throw refusal
}

function refusalOf({ version, known, pending, functionsCurrent }: SchemaStatus): SchemaRefused | undefined {
  if (version > known) {
    const problem = `the database has schema ${version}, and this release of Millrace knows ${known}`
    return new SchemaRefused('schema_too_new', problem, 'update Millrace in this program')
  }
  if (version === 0) return new SchemaRefused('schema_missing', 'the database has no Millrace schema', MIGRATE)
  if (pending.length > 0) {
    const problem = `the database has schema ${version}, and this release of Millrace needs ${known}`
    return new SchemaRefused('schema_too_old', problem, MIGRATE)
  }
  if (functionsCurrent) return undefined
  const problem = 'the functions in the database are those of another release of Millrace'
  return new SchemaRefused('schema_differs', problem, `run the same release everywhere: ${MIGRATE}`)
}
