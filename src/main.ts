// The composition root: the one place where the parts meet. They start in the order below, each on those
// before it, and stop in the reverse order.
import { hostname } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Logger, pino } from 'pino'
import { type AccessControl, adminToken, createAccess, type Holder, signInUrl } from './access/index.ts'
import { type Running, type RunningWorker, version } from './cli/index.ts'
import { type Config, withoutPassword } from './config/index.ts'
import {
  type Database,
  examineDatabase as examine,
  type Finding,
  isConnectionLost,
  migrate,
  openDatabase,
  type Pool,
  prepareSchema,
  type SchemaStatus,
  schemaProblem,
  schemaStatus,
} from './db/index.ts'
import { type AnyWorker, connect, EventHub, type Millrace, type ReadEventsOptions, readEvents } from './engine/index.ts'
import { addEvents, addSocket, addTasks, addWebhooks, createServer, requireTokenFor } from './http/index.ts'
import { createOutbound } from './outbound/index.ts'
import { Parts } from './parts.ts'
import { Webhooks } from './webhooks/index.ts'

export { migrationSql as migrateSql } from './db/index.ts'

const DELIVERIES_AT_ONCE = 20 // each waits for a receiver, up to 20 seconds
const READINESS_MS = 2_000 // probes usually give up after a few seconds

/** Starts everything in this process and answers when it takes requests. When `signal` aborts first, it stops and throws. */
export async function serve(config: Config, signal?: AbortSignal): Promise<Running> {
  requireTokenFor(config.host, config.admin_token)
  const logger = createLogger(config)
  const parts = new Parts((name, error) => logger.error({ err: error }, `${name} did not stop cleanly`))
  try {
    return await startParts(config, logger, parts, signal)
  } catch (error) {
    await parts.stop()
    throw error
  }
}

async function startParts(config: Config, logger: Logger, parts: Parts, signal?: AbortSignal): Promise<Running> {
  const token = await adminToken({ given: config.admin_token, dataDir: config.data })
  const { database, millrace } = await startEngine(config, logger, parts, signal)
  const access = await createAccess({
    pool: database.pool,
    adminToken: token,
    isLive: (holder) => isLive(millrace, holder),
    auditDays: config.audit_days,
    onError: (error) => logger.warn({ err: error }, 'a write of the record did not work'),
  })
  parts.add('access', () => access.close())
  const { hub, webhooks } = startWebhooks({ config, logger, parts, pool: database.pool, millrace })
  const events = {
    hub,
    read: (options: ReadEventsOptions) => readEvents(database.pool, options),
    resolve: (text: string) => millrace.resolve(text),
  }
  const server = createServer({
    logger,
    access,
    version: version(),
    rateLimit: config.rate_limit,
    trustProxy: config.trust_proxy,
    isAway: isConnectionLost,
    resources: [
      (app) => addTasks(app, millrace),
      (app) => addEvents(app, events),
      (app) => addSocket(app, events),
      (app) => addWebhooks(app, webhooks),
    ],
    readiness: () => readiness(database.pool),
  })
  parts.add('http', () => server.drain(config.drain_seconds * 1000))
  const url = await server.listen(config)
  signal?.throwIfAborted()
  await startDispatcher(millrace, config, logger, parts)
  signal?.throwIfAborted()
  const signIn = token.file === undefined ? undefined : await firstLink(access, url)
  return { url, signInUrl: signIn, failed: database.lost, stop: () => parts.stop() }
}

type WebhookParts = {
  readonly config: Config
  readonly logger: Logger
  readonly parts: Parts
  readonly pool: Pool
  readonly millrace: Millrace
}

/** Has webhooks told of events: their deliveries are made and sent here. */
function startWebhooks({ config, logger, parts, pool, millrace }: WebhookParts) {
  const hub = new EventHub(pool)
  parts.add('events', () => hub.close())
  const onError = (error: Error) => logger.warn({ err: error }, 'webhooks could not go on; they will')
  const outbound = createOutbound({ allow: config.outbound_allow?.split(',') ?? [] })
  parts.add('outbound', () => outbound.close())
  const webhooks = new Webhooks({ pool, millrace, outbound })
  const options = { concurrency: DELIVERIES_AT_ONCE, stopSeconds: config.drain_seconds, onError }
  const dispatcher = millrace.dispatch(webhooks.workers, options)
  parts.add('webhooks', () => dispatcher.stop())
  parts.add('planning of webhooks', webhooks.start(hub, onError))
  return { hub, webhooks }
}

/** The link that a start prints: it signs the administrator in. */
async function firstLink(access: AccessControl, url: string): Promise<string> {
  const by = { name: 'admin', role: 'admin', limit: null, via: 'token' } as const
  return signInUrl(url, await access.createSignInLink({ by }))
}

/** A task's token is good while the attempt that it was given to is under way. */
async function isLive(millrace: Millrace, { limit, attempt }: Holder): Promise<boolean> {
  if (limit.to !== 'task') return false
  const last = (await millrace.attempts(limit.name)).at(-1)
  return last?.outcome === null && String(last.number) === attempt
}

/** Performs tasks of a database that others share, without a server. When `signal` aborts first, it stops and throws. */
export async function worker(config: Config, signal?: AbortSignal): Promise<RunningWorker> {
  if (config.database_url === undefined) throw new WorkerNeedsDatabase()
  const logger = createLogger(config)
  const parts = new Parts((name, error) => logger.error({ err: error }, `${name} did not stop cleanly`))
  try {
    const { database, millrace } = await startEngine(config, logger, parts, signal)
    const { webhooks } = startWebhooks({ config, logger, parts, pool: database.pool, millrace })
    const { kinds, name } = await startDispatcher(millrace, config, logger, parts)
    signal?.throwIfAborted()
    return {
      name,
      kinds: [...webhooks.workers.map(({ kind }) => kind), ...kinds],
      failed: database.lost,
      stop: () => parts.stop(),
    }
  } catch (error) {
    await parts.stop()
    throw error
  }
}

/** The embedded database belongs to the server that runs it. */
class WorkerNeedsDatabase extends Error {
  readonly code = 'worker_needs_database'
  readonly remedy = 'set MILLRACE_DATABASE_URL to the database of the server; `millrace serve` performs tasks itself'
  constructor() {
    super('a worker shares a database with a server, and none is named')
  }
}

async function startEngine(config: Config, logger: Logger, parts: Parts, signal?: AbortSignal) {
  const database = await openConfigured(config, (message) => logger.warn(message))
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
  return { database, millrace }
}

/** The workers of every part, for `serve` and `worker` alike: a task is performed wherever one of them runs. */
function workersOf(): AnyWorker[] {
  return []
}

/** Starts to perform the tasks of every part. It starts last and stops first: a task may still ask the server. */
async function startDispatcher(millrace: Millrace, config: Config, logger: Logger, parts: Parts) {
  const workers = workersOf()
  const kinds = workers.map(({ kind }) => kind)
  const name = `${hostname()}:${process.pid}`
  if (workers.length === 0) return { kinds, name }
  const dispatcher = millrace.dispatch(workers, {
    name,
    concurrency: config.concurrency ?? 10,
    stopSeconds: config.drain_seconds,
    onError: (error) => logger.warn({ err: error }, 'the dispatcher met an error and goes on'),
  })
  parts.add('dispatcher', () => dispatcher.stop())
  await dispatcher.started
  return { kinds, name }
}

/** A probe is answered in time even when the database is not. */
async function readiness(pool: Pool): Promise<string | undefined> {
  const timer = new AbortController()
  const late = sleep(READINESS_MS, 'the database does not answer', { signal: timer.signal })
  late.catch(() => {})
  try {
    return await Promise.race([schemaProblem(pool), late])
  } catch (error) {
    return `the database cannot be reached: ${(error as Error).message}`
  } finally {
    timer.abort()
  }
}

function createLogger(config: Config): Logger {
  const secret = ['req.headers.authorization', 'req.headers.cookie']
  // Standard output is for the ready line alone.
  return pino({ level: config.log_level, redact: secret }, pino.destination({ dest: 2, sync: true }))
}

function openConfigured(config: Config, onEvent?: (message: string) => void): Promise<Database> {
  return openDatabase({ ...optionsOf(config), ...(onEvent && { onEvent }) })
}

function optionsOf({ database_url: databaseUrl, data: dataDir }: Config) {
  const shownAs = databaseUrl === undefined ? undefined : withoutPassword(databaseUrl)
  return { databaseUrl, shownAs, dataDir }
}

/** Brings the schema of the configured database up to date; answers the names of what was applied. */
export function migrateUp(config: Config): Promise<string[]> {
  return withDatabase(config, migrate)
}

export function migrateStatus(config: Config): Promise<SchemaStatus> {
  return withDatabase(config, schemaStatus)
}

/** Looks at the configured database, and changes nothing there. */
export function examineDatabase(config: Config): Promise<Finding[]> {
  return examine(optionsOf(config))
}

async function withDatabase<T>(config: Config, body: (pool: Pool) => Promise<T>): Promise<T> {
  const database = await openConfigured(config)
  try {
    return await body(database.pool)
  } finally {
    await database.stop()
  }
}
