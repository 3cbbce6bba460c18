// What the server and a worker both stand on: the log, the database with its schema, the engine.
import type { Logger } from 'pino'
import { type Config, withoutPassword } from './config/index.ts'
import { type Database, openDatabase, prepareSchema } from './db/index.ts'
import { connect, type Millrace } from './engine/index.ts'
import type { Parts } from './parts.ts'
import { createSecrets, type Secrets } from './secrets/index.ts'

export type Foundation = {
  readonly config: Config
  readonly logger: Logger
  /** Whatever starts is added here; it stops in the reverse order. */
  readonly parts: Parts
  readonly database: Database
  readonly millrace: Millrace
  readonly secrets: Secrets
}

/** Starts what everything else stands on. When `signal` aborts first, it throws; what has started is among the parts. */
export async function layFoundation(
  { config, logger, parts }: Pick<Foundation, 'config' | 'logger' | 'parts'>,
  signal?: AbortSignal,
): Promise<Foundation> {
  const database = await openDatabase({ ...databaseOptions(config), onEvent: (message) => logger.warn(message) })
  parts.add('database', () => database.stop())
  signal?.throwIfAborted()

  const applied = await prepareSchema(database.pool, config.migrate)
  if (applied.length > 0) logger.info({ applied }, 'the schema is up to date')
  signal?.throwIfAborted()

  const millrace = await connect({
    databaseUrl: database.databaseUrl,
    onError: (error) => logger.warn({ err: error }, 'a connection of the engine broke'),
  })
  parts.add('engine', () => millrace.close())
  const secrets = createSecrets({ pool: database.pool, dataDir: config.data, key: config.secret_key })
  return { config, logger, parts, database, millrace, secrets }
}

export function databaseOptions({ database_url: databaseUrl, data: dataDir }: Config) {
  const shownAs = databaseUrl === undefined ? undefined : withoutPassword(databaseUrl)
  return { databaseUrl, shownAs, dataDir }
}
