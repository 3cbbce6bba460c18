import { type Config, withoutPassword } from './config.ts'
import { createPool, migrate, type Pool, schemaStatus, startEmbedded } from './db/index.ts'

const OLDEST = 150_000 // PostgreSQL 15

export type Database = {
  readonly databaseUrl: string
  readonly pool: Pool
  /** Settles with the error when the database is lost for good; never for a server that somebody else runs. */
  readonly lost: Promise<Error>
  stop(): Promise<void>
}

/** The database cannot be used as it is. */
export class DatabaseUnusable extends Error {
  readonly code = 'database_unusable'
  readonly remedy: string
  constructor(problem: string, remedy: string) {
    super(problem)
    this.remedy = remedy
  }
}

export type DatabaseOptions = Pick<Config, 'database_url' | 'data'> & { onEvent?: (message: string) => void }

/** Connects to the server that the settings name, or starts the embedded one of the data directory. */
export async function openDatabase(options: DatabaseOptions): Promise<Database> {
  const onEvent = options.onEvent ?? (() => {})
  if (options.database_url !== undefined) return connect(options.database_url, onEvent)
  const embedded = await startEmbedded({ dataDir: options.data, onEvent })
  const lost = embedded.exited.then((error) => error ?? new Promise<never>(() => {}))
  const pool = createPool({ databaseUrl: embedded.databaseUrl, onError: (error) => onEvent(error.message) })
  const stop = async () => {
    await pool.end()
    await embedded.stop()
  }
  return { databaseUrl: embedded.databaseUrl, pool, lost, stop }
}

async function connect(databaseUrl: string, onEvent: (message: string) => void): Promise<Database> {
  const pool = createPool({ databaseUrl, onError: (error) => onEvent(error.message) })
  const stop = () => pool.end()
  try {
    const { rows } = await pool.query(`select current_setting('server_version_num')::int as version`)
    const { version } = rows[0] as { version: number }
    if (version < OLDEST) {
      throw new DatabaseUnusable(
        `the server at ${withoutPassword(databaseUrl)} is PostgreSQL ${Math.floor(version / 10_000)}`,
        'use PostgreSQL 15 or newer',
      )
    }
  } catch (error) {
    await stop()
    if (error instanceof DatabaseUnusable) throw error
    throw new DatabaseUnusable(
      `the database at ${withoutPassword(databaseUrl)} cannot be used: ${sentenceOf(error)}`,
      'check MILLRACE_DATABASE_URL, and that the server runs and lets this machine in',
    )
  }
  return { databaseUrl, pool, lost: new Promise(() => {}), stop }
}

/** Node gathers the failures of several addresses in one error without a message. */
function sentenceOf(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map((one) => (one as Error).message).join(', ')
  return (error as Error).message
}

/** Brings the schema up to date, or with `never` refuses one that is not. */
export async function prepareSchema(pool: Pool, when: Config['migrate']): Promise<string[]> {
  if (when === 'auto') return migrate(pool)
  const problem = await schemaProblem(pool)
  if (problem !== undefined)
    throw new DatabaseUnusable(problem, 'run millrace migrate up, or set MILLRACE_MIGRATE=auto')
  return []
}

/** Undefined when the schema is this release's; otherwise what is wrong with it. */
export async function schemaProblem(pool: Pool): Promise<string | undefined> {
  const { version, known, pending, functionsCurrent } = await schemaStatus(pool)
  if (version > known) return `the database has schema ${version} and this release knows ${known}`
  if (pending.length > 0) return `the database has schema ${version} and this release needs ${known}`
  return functionsCurrent ? undefined : "the database's functions are not those of this release"
}
