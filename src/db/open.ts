import { startEmbedded } from './embedded.ts'
import { createPool, type Pool } from './pool.ts'
import { DatabaseUnusable } from './unusable.ts'

const OLDEST = 150_000 // PostgreSQL 15

export type Database = {
  readonly databaseUrl: string
  readonly pool: Pool
  /** Settles with the error when the database is lost for good; never for a server that somebody else runs. */
  readonly lost: Promise<Error>
  stop(): Promise<void>
}

export type DatabaseOptions = {
  /** A server that somebody else runs. Without it the embedded one of the data directory is started. */
  readonly databaseUrl?: string | undefined
  /** The URL as errors may name it: without its password. */
  readonly shownAs?: string | undefined
  readonly dataDir: string
  /** Told of what the database does by itself: restarts, broken connections. */
  readonly onEvent?: (message: string) => void
}

/** Connects to the server that is named, or starts the embedded one. */
export async function openDatabase(options: DatabaseOptions): Promise<Database> {
  const onEvent = options.onEvent ?? (() => {})
  if (options.databaseUrl !== undefined) {
    return connect({ databaseUrl: options.databaseUrl, shownAs: options.shownAs ?? 'the given URL', onEvent })
  }
  const embedded = await startEmbedded({ dataDir: options.dataDir, onEvent })
  const lost = embedded.exited.then((error) => error ?? new Promise<never>(() => {}))
  const pool = createPool({ databaseUrl: embedded.databaseUrl, onError: (error) => onEvent(error.message) })
  const stop = async () => {
    await pool.end()
    await embedded.stop()
  }
  return { databaseUrl: embedded.databaseUrl, pool, lost, stop }
}

type Server = { databaseUrl: string; shownAs: string; onEvent: (message: string) => void }

async function connect({ databaseUrl, shownAs, onEvent }: Server): Promise<Database> {
  const pool = createPool({ databaseUrl, onError: (error) => onEvent(error.message) })
  const stop = () => pool.end()
  try {
    const { rows } = await pool.query(`select current_setting('server_version_num')::int as version`)
    const { version } = rows[0] as { version: number }
    if (version < OLDEST) {
      throw new DatabaseUnusable(
        `the server at ${shownAs} is PostgreSQL ${Math.floor(version / 10_000)}`,
        'use PostgreSQL 15 or newer',
      )
    }
  } catch (error) {
    await stop()
    if (error instanceof DatabaseUnusable) throw error
    throw new DatabaseUnusable(
      `the database at ${shownAs} cannot be used: ${sentenceOf(error)}`,
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
