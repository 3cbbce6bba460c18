// The composition root: the one place where the parts meet. They start in the order below, each on those
// before it, and stop in the reverse order.
import { createHash } from 'node:crypto'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Logger, pino } from 'pino'
import { type AccessControl, adminToken, createAccess, type Holder, signInUrl } from './access/index.ts'
import { type Running, version } from './cli/index.ts'
import { type Config, withoutPassword } from './config/index.ts'
import {
  type Database,
  isConnectionLost,
  migrate,
  openDatabase,
  type Pool,
  prepareSchema,
  type SchemaStatus,
  schemaProblem,
  schemaStatus,
} from './db/index.ts'
import { connect, EventHub, type Millrace, type ReadEventsOptions, readEvents } from './engine/index.ts'
import { addEvents, addNodes, addSocket, addTasks, addWebhooks, createServer, requireTokenFor } from './http/index.ts'
import { createNodes, createNodeWorkers, type Nodes } from './nodes/index.ts'
import { createOutbound } from './outbound/index.ts'
import { Parts } from './parts.ts'
import { createContainerRunner, createProcessRunner } from './runners/index.ts'
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
  const nodes = createNodes({ pool: database.pool, millrace })
  parts.add('nodes', async () => nodes.close())
  const access = await createAccess({
    pool: database.pool,
    adminToken: token,
    isLive: (holder) => isLive({ millrace, nodes }, holder),
    auditDays: config.audit_days,
    onError: (error) => logger.warn({ err: error }, 'a write of the record did not work'),
  })
  parts.add('access', () => access.close())
  const hub = new EventHub(database.pool)
  parts.add('events', () => hub.close())
  const webhooks = startWebhooks({ config, logger, parts, pool: database.pool, millrace, hub })
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
      (app) => addNodes(app, nodes),
      (app) => addEvents(app, events),
      (app) => addSocket(app, events),
      (app) => addWebhooks(app, webhooks),
    ],
    readiness: () => readiness(database.pool),
  })
  parts.add('http', () => server.drain(config.drain_seconds * 1000))
  const url = await server.listen(config)
  signal?.throwIfAborted()
  await startWork({ config, logger, parts, database, millrace, access, url })
  const signIn = token.file === undefined ? undefined : await firstLink(access, url)
  return { url, signInUrl: signIn, failed: database.lost, stop: () => parts.stop() }
}

type Work = {
  readonly config: Config
  readonly logger: Logger
  readonly parts: Parts
  readonly database: Database
  readonly millrace: Millrace
  readonly access: AccessControl
  readonly url: string
}

const TOKEN_SECONDS = 30 * 86_400 // a token ends with its attempt; this is for the case that nobody learns of that

/** Starts to perform tasks. */
async function startWork({ config, logger, parts, database, millrace, access, url }: Work): Promise<void> {
  const scratch = join(config.data, 'scratch')
  await mkdir(scratch, { recursive: true, mode: 0o700 })
  const runner = createProcessRunner()
  parts.add('runner', () => runner.close())
  const containerRunner = createContainerRunner()
  const markerPrefix = `millrace-${installationOf(database.databaseUrl)}-`
  const swept = await runner.sweepLeftovers(markerPrefix)
  if (swept > 0) logger.warn({ swept }, 'ended processes that a server which is dead had left')
  const work = createNodeWorkers({
    pool: database.pool,
    millrace,
    runner,
    containerRunner,
    scratch,
    markerPrefix,
    graceMs: config.grace_seconds * 1000,
    url: () => reachable(url),
    issueToken: ({ node, epoch }) =>
      access.issueTaskToken({
        limit: { to: 'node', name: node },
        attempt: String(epoch),
        ttlSeconds: TOKEN_SECONDS,
      }),
  })
  const dispatcher = millrace.dispatch(work.workers, {
    concurrency: config.concurrency,
    stopSeconds: config.drain_seconds,
    onError: (error) => logger.warn({ err: error }, 'the dispatcher met a fault'),
  })
  // What is given up when the time is over must have stored its output before the database goes.
  parts.add('dispatcher', async () => {
    await dispatcher.stop()
    await containerRunner.detach()
    await runner.close()
    await work.settled()
  })
  await dispatcher.started
}

/** Tells this installation's processes from those of another on the same host: servers on one database are one. */
function installationOf(databaseUrl: string): string {
  const { host, pathname, searchParams } = new URL(databaseUrl)
  return createHash('sha256')
    .update([host, pathname, searchParams.get('host')].join(' '))
    .digest('hex')
    .slice(0, 12)
}

/** The address under which a process on this host reaches the server. */
const reachable = (url: string) => url.replace('//0.0.0.0:', '//127.0.0.1:').replace('//[::]:', '//[::1]:')

type WebhookParts = {
  readonly config: Config
  readonly logger: Logger
  readonly parts: Parts
  readonly pool: Pool
  readonly millrace: Millrace
  readonly hub: EventHub
}

/** Has webhooks told of events: their deliveries are made and sent here. */
function startWebhooks({ config, logger, parts, pool, millrace, hub }: WebhookParts): Webhooks {
  const onError = (error: Error) => logger.warn({ err: error }, 'webhooks could not go on; they will')
  const outbound = createOutbound({ allow: config.outbound_allow?.split(',') ?? [] })
  parts.add('outbound', () => outbound.close())
  const webhooks = new Webhooks({ pool, millrace, outbound })
  const options = { concurrency: DELIVERIES_AT_ONCE, stopSeconds: config.drain_seconds, onError }
  const dispatcher = millrace.dispatch(webhooks.workers, options)
  parts.add('webhooks', () => dispatcher.stop())
  parts.add('planning of webhooks', webhooks.start(hub, onError))
  return webhooks
}

/** The link that a start prints: it signs the administrator in. */
async function firstLink(access: AccessControl, url: string): Promise<string> {
  const by = { name: 'admin', role: 'admin', limit: null, via: 'token' } as const
  return signInUrl(url, await access.createSignInLink({ by }))
}

/** A task's token is good while the attempt that it was given to is under way. */
async function isLive(
  { millrace, nodes }: { millrace: Millrace; nodes: Nodes },
  { limit, attempt }: Holder,
): Promise<boolean> {
  if (limit.to === 'node') return nodes.isAttemptUnderWay(limit.name, attempt)
  if (limit.to !== 'task') return false
  const last = (await millrace.attempts(limit.name)).at(-1)
  return last?.outcome === null && String(last.number) === attempt
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
  const { database_url: databaseUrl, data: dataDir } = config
  const shownAs = databaseUrl === undefined ? undefined : withoutPassword(databaseUrl)
  return openDatabase({ databaseUrl, shownAs, dataDir, ...(onEvent && { onEvent }) })
}

/** Brings the schema of the configured database up to date; answers the names of what was applied. */
export function migrateUp(config: Config): Promise<string[]> {
  return withDatabase(config, migrate)
}

export function migrateStatus(config: Config): Promise<SchemaStatus> {
  return withDatabase(config, schemaStatus)
}

async function withDatabase<T>(config: Config, body: (pool: Pool) => Promise<T>): Promise<T> {
  const database = await openConfigured(config)
  try {
    return await body(database.pool)
  } finally {
    await database.stop()
  }
}
