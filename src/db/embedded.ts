// Supervises a real PostgreSQL under the data directory. In order: lock the directory, choose where the
// cluster lives and who runs it, prepare the binaries, end what a killed predecessor left, make the cluster
// if there is none, start the server, and start it again whenever it dies.
import { chown, mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join, resolve } from 'node:path'
import pg from 'pg'
import { lockDataDirectory } from './data-lock.ts'
import { type PackagedBinaries, packagedBinaries, prepareBinaries } from './embedded-binaries.ts'
import { CLUSTER, initCluster, type Place, placeCluster } from './embedded-cluster.ts'
import { stopOrphans } from './embedded-orphans.ts'
import { isRoot } from './embedded-owner.ts'
import { type Supervisor, supervise } from './embedded-supervisor.ts'

export type EmbeddedOptions = {
  dataDir: string
  /** False only for tests: a crash of the machine may then lose or damage everything. */
  durable?: boolean
  maxConnections?: number
  /** Told of each death and restart of the server, and of a cluster that lives elsewhere. */
  onEvent?: (message: string) => void
  /** Where the cluster goes when root's data directory cannot be entered by others. */
  systemDir?: string
  /** The binaries to run; those of the installed package unless told. */
  binaries?: PackagedBinaries
}

export type Embedded = {
  /** A superuser's URL of the database `millrace`, over a socket that only the server's user and root can reach. */
  readonly databaseUrl: string
  /** The server's folder, which holds its data. */
  readonly cluster: string
  /** The server's process id; undefined while it is being started again. */
  readonly pid: number | undefined
  /** Settles when the server is gone for good: with nothing after `stop`, with the error when it cannot be restarted. */
  readonly exited: Promise<Error | undefined>
  stop(): Promise<void>
}

const CREATE_MS = 60_000
const SOCKET_DIR_PREFIX = 'millrace-socket-'
// macOS allows 103 bytes and Linux 107, for the folder and the name `/.s.PGSQL.5432` in it.
const LONGEST_SOCKET_DIR = 103 - '/.s.PGSQL.5432'.length

/**
 * Starts the database of a data directory and keeps it running until `stop`. Throws `DataDirectoryInUse`
 * when another live process holds the directory.
 */
export async function startEmbedded(options: EmbeddedOptions): Promise<Embedded> {
  const dataDir = resolve(options.dataDir)
  await mkdir(dataDir, { recursive: true, mode: isRoot() ? 0o711 : 0o700 })
  const lock = await lockDataDirectory(join(dataDir, `${CLUSTER}.lock`))
  const onEvent = options.onEvent ?? (() => {})
  let socketDir: string | undefined
  let supervisor: Supervisor | undefined
  const stop = async () => {
    await supervisor?.stop()
    if (socketDir !== undefined) await removeSocketDir(socketDir)
    await lock.release()
  }
  try {
    const place = await placeCluster({ dataDir, systemDir: options.systemDir ?? '/var/lib/millrace' })
    if (place.home !== dataDir) onEvent(`only root may enter ${dataDir}: the database is kept in ${place.cluster}`)
    const native = await prepareBinaries(place.home, place.owner, options.binaries ?? packagedBinaries())
    await stopOrphans(place.cluster)
    await initCluster(place, native, options.durable ?? true)
    socketDir = await chooseSocketDir(place)
    const logFile = join(dataDir, `${CLUSTER}.log`)
    const serverOptions = { place, native, logFile, socketDir, settings: settingsOf(options) }
    supervisor = await supervise(serverOptions, onEvent)
    await createDatabase(urlOf(socketDir, 'postgres'))
    return embedded(urlOf(socketDir, 'millrace'), place.cluster, supervisor, stop)
  } catch (error) {
    await stop()
    throw error
  }
}

function embedded(databaseUrl: string, cluster: string, supervisor: Supervisor, stop: () => Promise<void>): Embedded {
  let stopping: Promise<void> | undefined
  return {
    databaseUrl,
    cluster,
    get pid() {
      return supervisor.pid
    },
    exited: supervisor.exited,
    stop() {
      stopping ??= stop()
      return stopping
    },
  }
}

function settingsOf(options: EmbeddedOptions): Record<string, string | number> {
  const isDurable = options.durable ?? true
  return {
    max_connections: options.maxConnections ?? 100,
    shared_buffers: '128MB',
    // Planning with the compiler costs more than it gains for statements of a few rows.
    jit: 'off',
    unix_socket_permissions: '0700',
    log_min_messages: 'warning',
    timezone: 'UTC',
    ...(isDurable ? {} : { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' }),
  }
}

/** The cluster's own folder, which others cannot enter; where its path is too long for a socket, a private one. */
async function chooseSocketDir(place: Place): Promise<string> {
  if (Buffer.byteLength(place.cluster) <= LONGEST_SOCKET_DIR) return place.cluster
  const folder = await mkdtemp(join(tmpdir(), SOCKET_DIR_PREFIX))
  if (place.owner) await chown(folder, place.owner.uid, place.owner.gid)
  return folder
}

async function removeSocketDir(folder: string): Promise<void> {
  if (basename(folder).startsWith(SOCKET_DIR_PREFIX)) await rm(folder, { recursive: true, force: true })
}

function urlOf(socketDir: string, database: string): string {
  return `postgresql://millrace@localhost/${database}?host=${encodeURIComponent(socketDir)}`
}

async function createDatabase(databaseUrl: string): Promise<void> {
  const client = new pg.Client({
    connectionString: databaseUrl,
    connectionTimeoutMillis: CREATE_MS,
    query_timeout: CREATE_MS, // copies the template's files
  })
  await client.connect()
  try {
    const { rowCount } = await client.query(`select from pg_database where datname = 'millrace'`)
    if (rowCount === 0) await client.query('create database millrace')
  } finally {
    await client.end()
  }
}
