// What a process performs: the tasks of every part, whether it is the server or a worker beside it.
import { createHash } from 'node:crypto'
import { setMaxListeners } from 'node:events'
import { mkdir } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { AccessControl } from './access/index.ts'
import {
  type Archives,
  createArchiveIndexWorker,
  createArchives,
  createArchiveTaskWorker,
  limitOf,
  sweepRooms,
} from './archives/index.ts'
import { version } from './cli/index.ts'
import type { AnyWorker } from './engine/index.ts'
import type { Foundation } from './foundation.ts'
import { createNodeWorkers, LIMIT as LIMIT_OF_NODES, sweepContainers } from './nodes/index.ts'
import { createOutbound } from './outbound/index.ts'
import { type AdoptingRunner, createContainerRunner, createProcessRunner, type Runner } from './runners/index.ts'
import { Webhooks } from './webhooks/index.ts'

const INDEXES_AT_ONCE = 4 // each reads a repository and writes to the database
const DELIVERIES_AT_ONCE = 20 // each waits for a receiver, up to 20 seconds
const OUTPUT_MS = 10_000 // for output that waits for a database that is away
const SWEEP_MS = 60_000
const FIRST_SWEEP_MS = 5_000
const TOKEN_SECONDS = 30 * 86_400 // a token ends with its attempt; this is for the case that nobody learns of that

export type Performing = {
  /** As the list of dispatchers shows it. */
  readonly name: string
  readonly kinds: readonly string[]
  /** Settles when somebody asked it to drain, and it has nothing left. */
  readonly drained: Promise<'drained'>
}

type Work = Foundation & {
  readonly access: AccessControl
  readonly archives: Archives
  /** The address under which commands on this host reach the server. */
  readonly url: () => Promise<string>
}

/** Starts to perform the tasks of every part. It starts last and stops first: a task may still ask the server. */
export async function startWork(at: Work): Promise<Performing> {
  const { config, logger, parts, database, millrace, secrets, access, archives, url } = at
  const scratch = join(config.data, 'scratch')
  await mkdir(scratch, { recursive: true, mode: 0o700 })
  const runner = createProcessRunner()
  parts.add('runner', () => runner.close())
  const containerRunner = createContainerRunner()
  const markerPrefix = `millrace-${installationOf(database.databaseUrl)}-`
  const swept = await runner.sweepLeftovers(markerPrefix)
  if (swept > 0) logger.warn({ swept }, 'ended processes that a server which is dead had left')
  const givenUp = new AbortController()
  setMaxListeners(0, givenUp.signal) // every command listens to it
  const workshop = {
    pool: database.pool,
    millrace,
    runner,
    containerRunner,
    scratch: resolve(scratch),
    markerPrefix,
    graceMs: config.grace_seconds * 1000,
    url,
    givenUp: givenUp.signal,
  }
  const nodes = createNodeWorkers({
    ...workshop,
    issueToken: ({ node, epoch }) =>
      access.issueTaskToken({ limit: { to: 'node', name: node }, attempt: String(epoch), ttlSeconds: TOKEN_SECONDS }),
  })
  const tasks = createArchiveTaskWorker({
    ...workshop,
    repositories: archives.repositories,
    secrets,
    issueToken: ({ task, epoch }) =>
      access.issueTaskToken({ limit: { to: 'task', name: task }, attempt: String(epoch), ttlSeconds: TOKEN_SECONDS }),
    defaultImage: config.default_image,
    program: thisProgram(),
  })
  const dispatchers = startDispatchers(at, [...nodes.workers, tasks])
  // What is given up when the time is over must have stored its output before the database goes.
  parts.add('dispatcher', async () => {
    await dispatchers.stop()
    // Containers go on and are taken up again by the next server.
    await containerRunner.detach()
    await runner.close()
    await settledOrGivenUp([nodes, tasks], givenUp)
  })
  sweepNowAndThen(at, { runner, containerRunner, markerPrefix, scratch: resolve(scratch) })
  await dispatchers.started
  return dispatchers.performing
}

type Dispatchers = {
  readonly performing: Performing
  readonly started: Promise<unknown>
  stop(): Promise<unknown>
}

/** One dispatcher for commands, and one for the index: short work that is built in waits for no command. */
function startDispatchers({ config, logger, database, millrace, archives }: Work, commands: AnyWorker[]): Dispatchers {
  const name = `${hostname()}:${process.pid}`
  const options = {
    version: version(),
    queues: config.queues.split(','),
    leaseSeconds: config.lease_seconds,
    stopSeconds: config.drain_seconds,
    onError: (error: Error) => logger.warn({ err: error }, 'the dispatcher met a fault and goes on'),
  }
  const index = createArchiveIndexWorker({ pool: database.pool, repositories: archives.repositories })
  const indexing = millrace.dispatch([index], { ...options, name: `${name} index`, concurrency: INDEXES_AT_ONCE })
  const drained = promiseOf('drained' as const)
  const running = millrace.dispatch(commands, {
    ...options,
    name,
    onDrained: drained.keep,
    concurrency: config.concurrency,
    fair: true,
  })
  return {
    performing: { name, kinds: [...commands, index].map(({ kind }) => kind), drained: drained.promise },
    started: Promise.all([running.started, indexing.started]),
    stop: () => Promise.all([running.stop(), indexing.stop()]),
  }
}

/** Lets in as many commands of each archive and of nodes as the settings say, also of those that were added before. */
export async function applyLimits({ config, millrace }: Foundation): Promise<void> {
  await millrace.setLimits(limitOf('%', 'default'), config.archive_concurrency)
  await millrace.setLimits(LIMIT_OF_NODES, config.node_concurrency)
}

/** A promise of this value, and what keeps it. */
function promiseOf<T>(value: T): { readonly promise: Promise<T>; readonly keep: () => void } {
  let keep = () => {}
  const promise = new Promise<T>((resolve) => {
    keep = () => resolve(value)
  })
  return { promise, keep }
}

/** Waits for what is still being performed; for output that cannot be stored only for a while. */
async function settledOrGivenUp(all: readonly { settled(): Promise<void> }[], givenUp: AbortController): Promise<void> {
  const timer = setTimeout(() => givenUp.abort(), OUTPUT_MS)
  await Promise.all(all.map((one) => one.settled()))
  clearTimeout(timer)
}

/** How this very program is started again, for commands that use it. */
function thisProgram(): string[] {
  const bin = import.meta.url.endsWith('.ts') ? './bin.ts' : './bin.js'
  // A debugger listens once.
  const options = process.execArgv.filter((word) => !word.startsWith('--inspect'))
  return [process.execPath, ...options, fileURLToPath(new URL(bin, import.meta.url))]
}

/** Opens the archives: their repositories are mirrored below the data folder. */
export function openArchives({ config, logger, database, millrace, secrets }: Foundation): Archives {
  return createArchives({
    pool: database.pool,
    millrace,
    cacheDir: resolve(config.data, 'repositories'),
    pollSeconds: config.poll_seconds,
    commandsAtOnce: config.archive_concurrency,
    readSecrets: (archive, names) => secrets.read(archive, names),
    onError: (error) => logger.warn({ err: error }, 'the planning of archives met a fault and goes on'),
  })
}

type Swept = {
  readonly runner: Runner
  readonly containerRunner: AdoptingRunner
  readonly markerPrefix: string
  readonly scratch: string
}

/** Looks for what dead servers left: containers that nobody will take up, processes, folders. */
function sweepNowAndThen({ logger, parts, millrace, database: { pool } }: Foundation, of: Swept): void {
  const stopped = new AbortController()
  const { signal } = stopped
  const sweepFolders = async () => {
    await of.runner.sweepLeftovers(of.markerPrefix)
    return sweepRooms({ ...of, millrace })
  }
  const run = async () => {
    for (let ms = FIRST_SWEEP_MS; ; ms = SWEEP_MS) {
      await sleep(ms, undefined, { signal, ref: false }).catch(() => {})
      if (signal.aborted) return
      const swept = await sweepContainers({ pool, ...of }).catch((error: unknown) => {
        logger.warn({ err: error }, 'containers that were left could not be looked for')
        return 0
      })
      if (swept > 0) logger.warn({ swept }, 'ended containers that were left and whose nodes have ended')
      const folders = await sweepFolders().catch((error: unknown) => {
        logger.warn({ err: error }, 'folders that were left could not be removed')
        return 0
      })
      if (folders > 0) logger.info({ folders }, 'removed folders of attempts whose server was killed')
    }
  }
  const running = run()
  parts.add('sweep of containers', async () => {
    stopped.abort()
    await running
  })
}

/** Has the workflows of archives run when their schedules say so, on whichever server is first. */
export function startSchedules({ logger }: Foundation, { runs }: Archives): () => Promise<void> {
  return runs.start((error) => logger.warn({ err: error }, 'the schedules met a fault and go on'))
}

/** Has webhooks told of events: their deliveries are made and sent here. */
export function startWebhooks({ config, logger, parts, database, millrace }: Foundation): Webhooks {
  const onError = (error: Error) => logger.warn({ err: error }, 'webhooks could not go on; they will')
  const outbound = createOutbound({ allow: config.outbound_allow?.split(',') ?? [] })
  parts.add('outbound', () => outbound.close())
  const webhooks = new Webhooks({ pool: database.pool, millrace, outbound })
  const dispatcher = millrace.dispatch(webhooks.workers, {
    version: version(),
    concurrency: DELIVERIES_AT_ONCE,
    leaseSeconds: config.lease_seconds,
    stopSeconds: config.drain_seconds,
    onError,
  })
  parts.add('webhooks', () => dispatcher.stop())
  parts.add('planning of webhooks', webhooks.start(onError))
  return webhooks
}

/** Tells this installation's processes from those of another on the same host: servers on one database are one. */
function installationOf(databaseUrl: string): string {
  const { host, pathname, searchParams } = new URL(databaseUrl)
  return createHash('sha256')
    .update([host, pathname, searchParams.get('host')].join(' '))
    .digest('hex')
    .slice(0, 12)
}
