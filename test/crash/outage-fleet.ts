// Servers and library programs on one PostgreSQL, each behind a proxy of its own, and the ways to take the database away.
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createPool, migrate, type Pool } from '../../src/db/index.ts'
import type { Millrace } from '../../src/engine/index.ts'
import type { Program } from '../program.ts'
import { scratch } from '../scratch.ts'
import { type Cluster, durableCluster } from './cluster.ts'
import { type DispatcherProgram, lookAt, startDispatcher } from './kit.ts'
import { proxyTo, type Wiring } from './proxy.ts'
import { type ServerProcess, startServer } from './server-process.ts'
import { CRASH_TABLES } from './workers.ts'

const SERVERS = 3
const LIBRARIES = 2

type Behind = { readonly proxy: Wiring; readonly program: Program }

export type Fleet = AsyncDisposable & {
  readonly leaseSeconds: number
  readonly cluster: Cluster
  /** Straight to the database, through no proxy. */
  readonly pool: Pool
  readonly millrace: Millrace
  /** For what the commands write. */
  readonly folder: string
  readonly servers: readonly (ServerProcess & Behind)[]
  readonly libraries: readonly (Behind & { readonly program: DispatcherProgram })[]
}

export async function startFleet(leaseSeconds: number): Promise<Fleet> {
  const [cluster, { path: folder }] = await Promise.all([durableCluster(), scratch()])
  const pool = createPool({ databaseUrl: cluster.databaseUrl })
  await migrate(pool)
  await pool.query(CRASH_TABLES)
  const millrace = await lookAt(cluster.databaseUrl)
  const env = {
    MILLRACE_LEASE_SECONDS: String(leaseSeconds),
    MILLRACE_CONCURRENCY: '200',
    MILLRACE_NODE_CONCURRENCY: '500',
  }
  const aServer = async (_: unknown, i: number) => {
    const proxy = await proxyTo(cluster.databaseUrl)
    const server = await startServer({ databaseUrl: proxy.databaseUrl, data: join(folder, `data-${i}`) }, env)
    return { proxy, ...server }
  }
  const aLibrary = async () => {
    const proxy = await proxyTo(cluster.databaseUrl)
    const options = { leaseSeconds, concurrency: 200, kinds: ['crash.timed'] }
    return { proxy, program: await startDispatcher(proxy.databaseUrl, options) }
  }
  const [servers, libraries] = await Promise.all([
    Promise.all(Array.from({ length: SERVERS }, aServer)),
    Promise.all(Array.from({ length: LIBRARIES }, aLibrary)),
  ])
  return {
    leaseSeconds,
    cluster,
    pool,
    millrace,
    folder,
    servers,
    libraries,
    async [Symbol.asyncDispose]() {
      await Promise.all([...servers, ...libraries].map(({ program }) => program[Symbol.asyncDispose]()))
      // First, since a connection to a frozen one would not end.
      await cluster[Symbol.asyncDispose]()
      await Promise.all([millrace.close(), pool.end()])
    },
  }
}

/** How the database goes away, and for whom. */
export type Way = 'kill' | 'freeze' | 'cut' | 'cut one'

export type Outage = {
  readonly way: Way
  readonly seconds: number
  /** Where in the time between two heartbeats of the first server it begins, from 0 to 1. */
  readonly phase: number
}

/** Those that the outage reaches. Of the others the database takes what these hold, when it is longer than their lease. */
export const reached = (fleet: Fleet, { way }: Outage): Behind[] =>
  way === 'cut one'
    ? [...fleet.servers.slice(0, 1), ...fleet.libraries.slice(0, 1)]
    : [...fleet.servers, ...fleet.libraries]

/** What becomes of the connections after a cut: they go on, they break, or they stay silent for ever. */
const HEALINGS: readonly ((proxy: Wiring) => void)[] = [
  (proxy) => proxy.flow(),
  (proxy) => {
    proxy.cut()
    proxy.flow()
  },
  // Later than any limit of the short form.
  (proxy: Wiring) => proxy.strand(),
]

/** Waits for the phase, and lets the database be away. */
export async function suffer(fleet: Fleet, outage: Outage): Promise<void> {
  const { cluster } = fleet
  const { way, seconds, phase } = outage
  await untilPhase(fleet, phase)
  if (way === 'kill') {
    await cluster.crash()
    await sleep(seconds * 1000)
    await cluster.start()
  } else if (way === 'freeze') {
    await cluster.freeze()
    await sleep(seconds * 1000)
    cluster.thaw()
  } else {
    const proxies = reached(fleet, outage).map(({ proxy }) => proxy)
    for (const proxy of proxies) proxy.stall()
    await sleep(seconds * 1000)
    const turn = Math.floor(phase * HEALINGS.length)
    for (const [i, proxy] of proxies.entries()) HEALINGS[(i + turn) % HEALINGS.length]?.(proxy)
  }
}

async function untilPhase({ pool, leaseSeconds, servers }: Fleet, phase: number): Promise<void> {
  const { rows } = await pool.query(
    `select lease_seconds - extract(epoch from expires_at - clock_timestamp())::float8 as age
     from millrace.dispatcher where process = $1 and dead_at is null order by id limit 1`,
    [servers[0]?.program.pid],
  )
  const beatSeconds = leaseSeconds / 3
  const waitSeconds = (phase * beatSeconds - (rows[0] as { age: number }).age + 2 * beatSeconds) % beatSeconds
  await sleep(waitSeconds * 1000)
}
