// Migrations are plain SQL files, numbered and forward only. Functions of the engine are kept apart, one
// file per verb: they are replaced whenever their text differs from what is installed, in the same
// transaction as the migrations, so a change of a function reads as a change of that file.
import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import type { Client, Db, Pool } from './pool.ts'
import { LONG_MS, transaction } from './transaction.ts'

const folder = fileURLToPath(new URL('../../migrations/', import.meta.url))
const LOCK = 7_420_001 // any constant: two migrating processes must agree on it

/** The database was made by a newer release than this one. */
export class SchemaTooNew extends Error {
  readonly code = 'schema_too_new'
  constructor(found: number, known: number) {
    super(
      `the database has schema ${found} and this release knows ${known}: run the newer release, or restore a backup made before the upgrade`,
    )
  }
}

type Migration = { readonly version: number; readonly name: string; readonly sql: string }

async function readMigrations(): Promise<Migration[]> {
  const names = (await readdir(folder)).filter((name) => /^\d{4}_.*\.sql$/.test(name)).sort()
  return Promise.all(
    names.map(async (name) => ({
      version: Number(name.slice(0, 4)),
      name,
      sql: await readFile(folder + name, 'utf8'),
    })),
  )
}

async function readFunctions(): Promise<{ sql: string; digest: string }> {
  const names = (await readdir(`${folder}functions/`)).filter((name) => name.endsWith('.sql')).sort()
  const texts = await Promise.all(names.map((name) => readFile(`${folder}functions/${name}`, 'utf8')))
  const sql = texts.join('\n')
  return { sql, digest: createHash('sha256').update(sql).digest('hex') }
}

export type SchemaStatus = { version: number; known: number; pending: string[]; functionsCurrent: boolean }

/** Says how the database's schema stands against this release, without changing anything. */
export async function schemaStatus(db: Db): Promise<SchemaStatus> {
  const [migrations, functions] = await Promise.all([readMigrations(), readFunctions()])
  const installed = await readInstalled(db)
  return {
    version: installed.version,
    known: migrations.at(-1)?.version ?? 0,
    pending: migrations.filter((m) => m.version > installed.version).map((m) => m.name),
    functionsCurrent: installed.digest === functions.digest,
  }
}

async function readInstalled(db: Db): Promise<{ version: number; digest: string }> {
  const { rows } = await db.query({ text: `select to_regclass('millrace.schema_version') is not null as there` })
  if (!(rows[0] as { there: boolean }).there) return { version: 0, digest: '' }
  const found = await db.query({ text: 'select version, functions_digest from millrace.schema_version' })
  const row = found.rows[0] as { version: number; functions_digest: string } | undefined
  return { version: row?.version ?? 0, digest: row?.functions_digest ?? '' }
}

/** The script that brings a database of schema `from` to this release's, for those who run such things by hand. */
export async function migrationSql(from: number): Promise<string> {
  const [migrations, functions] = await Promise.all([readMigrations(), readFunctions()])
  const pending = migrations.filter((migration) => migration.version > from)
  const known = migrations.at(-1)?.version ?? 0
  const note = `update millrace.schema_version set version = ${known}, functions_digest = '${functions.digest}', migrated_at = now();`
  const steps = pending.map((migration) => `-- ${migration.name}\n${migration.sql}`)
  return ['begin;', ...steps, '-- functions', functions.sql, note, 'commit;', ''].join('\n')
}

/**
 * Brings the database to this release's schema. Any number of processes may call it at once: one does
 * the work, the others wait for it. Answers the names of what was applied.
 */
export async function migrate(pool: Pool): Promise<string[]> {
  const [migrations, functions] = await Promise.all([readMigrations(), readFunctions()])
  const work = async (tx: Client) => {
    await tx.query({ text: 'select pg_advisory_xact_lock($1)', values: [LOCK] })
    const installed = await readInstalled(tx)
    const known = migrations.at(-1)?.version ?? 0
    if (installed.version > known) throw new SchemaTooNew(installed.version, known)
    const applied: string[] = []
    for (const migration of migrations) {
      if (migration.version <= installed.version) continue
      await tx.query({ text: migration.sql })
      applied.push(migration.name)
    }
    if (applied.length > 0 || installed.digest !== functions.digest) {
      await tx.query({ text: functions.sql })
      applied.push('functions')
      await tx.query({
        text: 'update millrace.schema_version set version = $1, functions_digest = $2, migrated_at = now()',
        values: [known, functions.digest],
      })
    }
    return applied
  }
  // One that waits for another that migrates is patient, too.
  return transaction(pool, work, { statementMs: LONG_MS })
}
