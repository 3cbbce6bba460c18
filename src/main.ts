// The composition root: the one place where the parts meet. They start in the order below, each on those
// before it, and stop in the reverse order.
import { setTimeout as sleep } from 'node:timers/promises'
import { type AccessControl, adminToken, createAccess, type Holder, signInUrl } from './access/index.ts'
import { publish, reachable, ServerAddress } from './address/index.ts'
import type { Archives } from './archives/index.ts'
import { type Running, type RunningWorker, version } from './cli/index.ts'
import type { Config } from './config/index.ts'
import {
  importDatabase as copyIn,
  exportDatabase as copyOut,
  describeDatabase,
  examineDatabase as examine,
  type Finding,
  isConnectionLost,
  isLate,
  migrate,
  openBeside,
  openDatabase,
  type Pool,
  prepareSchema,
  type SchemaStatus,
  schemaProblem,
  schemaStatus,
  within,
} from './db/index.ts'
import { databaseOptions, type Foundation, layFoundation } from './foundation.ts'
import {
  type Artifacts,
  addAbout,
  addArchiveIndex,
  addArchiveRuns,
  addArchives,
  addArtifacts,
  addDefinitions,
  addEvents,
  addNodes,
  addOverview,
  addSchedules,
  addSecrets,
  addSocket,
  addTaskLog,
  addTaskLogLines,
  addTasks,
  addTimeline,
  addWebhooks,
  addWorkers,
  createServer,
  type OutputLines,
  type Outputs,
  requireTokenFor,
} from './http/index.ts'
import { createLogger } from './log.ts'
import { createNodes, type Nodes } from './nodes/index.ts'
import { Parts } from './parts.ts'
import {
  findArtifact,
  findFirstError,
  followOutput,
  listArtifacts,
  readArtifact,
  readLines,
  readOutput,
  searchLines,
} from './storage/index.ts'
import type { Webhooks } from './webhooks/index.ts'
import { applyLimits, openArchives, startSchedules, startWebhooks, startWork } from './work.ts'

export { migrationSql as migrateSql } from './db/index.ts'

const STOP_SECONDS = 20 // for what follows when requests and tasks have had their time
const READINESS_MS = 2_000 // probes usually give up after a few seconds
const SILENT = `the database does not answer within ${READINESS_MS / 1000} seconds`

/** Starts everything in this process and answers when it takes requests. When `signal` aborts first, it stops and throws. */
export async function serve(config: Config, signal?: AbortSignal): Promise<Running> {
  requireTokenFor(config.host, config.admin_token)
  return orStop(config, async (beginnings) => {
    const token = await adminToken({ given: config.admin_token, dataDir: config.data })
    const at = await layFoundation(beginnings, signal)
    const { database, parts } = at
    const nodes = createNodes({ pool: database.pool, millrace: at.millrace, commandsAtOnce: config.node_concurrency })
    parts.add('nodes', async () => nodes.close())
    const access = await openAccess(at, token, nodes)
    const archives = openArchives(at)
    const server = openServer(at, { access, nodes, archives, webhooks: startWebhooks(at) })
    parts.add('http', () => server.drain(config.drain_seconds * 1000))
    const url = await server.listen(config)
    signal?.throwIfAborted()
    await applyLimits(at)
    await startWork({ ...at, access, archives, url: async () => reachable(url) })
    const onError = (error: unknown) => at.logger.warn({ err: error }, 'the address of the server could not be renewed')
    parts.add('address', await publish({ pool: database.pool, url, onError }))
    // Planning begins when there is somebody to perform what is planned.
    parts.add('planning of archives', archives.follow())
    parts.add('schedules', startSchedules(at, archives))
    signal?.throwIfAborted()
    const signIn = token.file === undefined ? undefined : await firstLink(access, `${url}${config.base_path ?? ''}`)
    return { url, signInUrl: signIn, failed: database.lost, stop: () => parts.stop() }
  })
}

/** Performs tasks of a database that others share, without a server. When `signal` aborts first, it stops and throws. */
export async function worker(config: Config, signal?: AbortSignal): Promise<RunningWorker> {
  if (config.database_url === undefined) throw new WorkerNeedsDatabase()
  return orStop(config, async (beginnings) => {
    const at = await layFoundation(beginnings, signal)
    // It gives tokens to what it runs and lets nobody in itself.
    const access = await openAccess(at, { matches: () => false, file: undefined })
    const webhooks = startWebhooks(at)
    const address = new ServerAddress(at.database.pool, config.url)
    // A worker that cannot name the server to its tasks says so before it takes any.
    await address.find()
    const url = () => address.find()
    const { name, kinds, drained } = await startWork({ ...at, access, archives: openArchives(at), url })
    signal?.throwIfAborted()
    return {
      name,
      kinds: [...kinds, ...webhooks.workers.map(({ kind }) => kind)],
      drained,
      failed: at.database.lost,
      stop: () => at.parts.stop(),
    }
  })
}

/** The embedded database belongs to the server that runs it. */
class WorkerNeedsDatabase extends Error {
  readonly code = 'worker_needs_database'
  readonly remedy = 'set MILLRACE_DATABASE_URL to the database of the server; `millrace serve` performs tasks itself'
  constructor() {
    super('a worker shares a database with a server, and none is named')
  }
}

type Beginnings = Pick<Foundation, 'config' | 'logger' | 'parts'>

/** Whatever has started is stopped again when the rest cannot be. */
async function orStop<T>(config: Config, start: (beginnings: Beginnings) => Promise<T>): Promise<T> {
  const logger = createLogger(config)
  const onError = (name: string, error: unknown) => logger.error({ err: error }, `${name} did not stop cleanly`)
  const parts = new Parts(onError, (config.drain_seconds + config.grace_seconds + STOP_SECONDS) * 1000)
  try {
    return await start({ config, logger, parts })
  } catch (error) {
    await parts.stop()
    throw error
  }
}

type Token = Parameters<typeof createAccess>[0]['adminToken']

async function openAccess(at: Foundation, token: Token, nodes?: Nodes): Promise<AccessControl> {
  const access = await createAccess({
    pool: at.database.pool,
    adminToken: token,
    isLive: (holder) => isLive(at, nodes, holder),
    auditDays: at.config.audit_days,
    onError: (error) => at.logger.warn({ err: error }, 'a write of the record did not work'),
  })
  at.parts.add('access', () => access.close())
  return access
}

/** A task's token is good while the attempt that it was given to is under way. */
async function isLive(
  { millrace }: Foundation,
  nodes: Nodes | undefined,
  { limit, attempt }: Holder,
): Promise<boolean> {
  if (limit.to === 'node') return (await nodes?.isAttemptUnderWay(limit.name, attempt)) ?? false
  if (limit.to !== 'task') return false
  const last = (await millrace.attempts(limit.name, { last: 1 })).at(-1)
  return last?.outcome === null && String(last.epoch) === attempt
}

type Served = {
  readonly access: AccessControl
  readonly nodes: Nodes
  readonly archives: Archives
  readonly webhooks: Webhooks
}

function openServer(at: Foundation, { access, nodes, archives, webhooks }: Served) {
  const { config, database, millrace, secrets } = at
  const { pool } = database
  const outputs: Outputs = {
    read: (options) => readOutput(pool, options),
    follow: (options) => followOutput(pool, options),
  }
  const lines: OutputLines = {
    read: (of, page) => readLines(pool, of, page),
    search: (of, options) => searchLines(pool, of, options),
    firstError: (of) => findFirstError(pool, of),
  }
  const artifacts: Artifacts = {
    list: ({ task, after, limit }) =>
      listArtifacts(pool, { tasks: [task], limit, ...(after === undefined ? {} : { after }) }),
    find: (task, path) => findArtifact(pool, task, path),
    read: (artifact, range) => readArtifact(pool, artifact, range),
  }
  return createServer({
    logger: at.logger,
    access,
    version: version(),
    rateLimit: config.rate_limit,
    trustProxy: config.trust_proxy,
    basePath: config.base_path,
    databaseTrouble: (error) => (isLate(error) ? 'late' : isConnectionLost(error) ? 'away' : undefined),
    resources: [
      (app) =>
        addAbout(app, {
          version: version(),
          auditDays: config.audit_days,
          database: () => describeDatabase(pool),
        }),
      (app) => addOverview(app, { millrace, archives, webhooks }),
      (app) => addTasks(app, millrace),
      (app) => addTimeline(app, millrace, archives),
      (app) => addTaskLog(app, millrace, outputs),
      (app) => addTaskLogLines(app, millrace, lines),
      (app) => addArtifacts(app, millrace, artifacts),
      (app) => addSecrets(app, secrets),
      (app) => addNodes(app, nodes),
      (app) => addArchives(app, archives),
      (app) => addArchiveIndex(app, archives),
      (app) => addDefinitions(app, archives),
      (app) => addArchiveRuns(app, archives.runs),
      (app) => addSchedules(app, archives.runs),
      (app) => addEvents(app, millrace),
      (app) => addSocket(app, millrace),
      (app) => addWebhooks(app, webhooks),
      (app) => addWorkers(app, millrace),
    ],
    readiness: () => readiness(pool),
  })
}

/** The link that a start prints: it signs the administrator in. */
async function firstLink(access: AccessControl, url: string): Promise<string> {
  const by = { name: 'admin', role: 'admin', limit: null, via: 'token' } as const
  return signInUrl(url, await access.createSignInLink({ by }))
}

/** A probe is answered in time even when the database is not. It asks on the pool of the requests: so it finds silence first. */
async function readiness(pool: Pool): Promise<string | undefined> {
  const timer = new AbortController()
  // A little later than the statement's own limit: by then the silent connections have been given up.
  const late = sleep(READINESS_MS + 200, SILENT, { signal: timer.signal })
  late.catch(() => {})
  try {
    return await Promise.race([schemaProblem(within(pool, READINESS_MS)), late])
  } catch (error) {
    if (isLate(error)) return SILENT
    return `the database cannot be reached: ${(error as Error).message}`
  } finally {
    timer.abort()
  }
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
  return examine(databaseOptions(config))
}

/** Opens the configured database beside a server that may run on it; the embedded one is there while `body` runs. */
export async function besideDatabase<T>(config: Config, body: (databaseUrl: string) => Promise<T>): Promise<T> {
  const database = await openBeside(databaseOptions(config))
  try {
    return await body(database.databaseUrl)
  } finally {
    await database.stop()
  }
}

/** Calls `take` with a copy of everything, line by line; answers how many rows it has. */
export async function exportDatabase(config: Config, take: (line: string) => Promise<void>): Promise<number> {
  const database = await openBeside(databaseOptions(config))
  try {
    await prepareSchema(database.pool, 'never')
    return await copyOut(database.pool, take)
  } finally {
    await database.stop()
  }
}

/** Reads a copy into the configured database, which must hold nothing yet. */
export function importDatabase(config: Config, lines: AsyncIterable<string>): Promise<number> {
  return withDatabase(config, async (pool) => {
    await migrate(pool)
    return copyIn(pool, lines)
  })
}

async function withDatabase<T>(config: Config, body: (pool: Pool) => Promise<T>): Promise<T> {
  const database = await openDatabase(databaseOptions(config))
  try {
    return await body(database.pool)
  } finally {
    await database.stop()
  }
}
