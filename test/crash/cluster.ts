// A PostgreSQL of the test's own that writes through to the disk, to be killed and restarted under its clients.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { chmod, chown, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inject, onTestFinished } from 'vitest'
import { packagedBinaries, prepareBinaries } from '../../src/db/embedded-binaries.ts'
import { CLUSTER, initCluster } from '../../src/db/embedded-cluster.ts'
import { type Owner, unprivilegedOwner } from '../../src/db/embedded-owner.ts'
import { isAlive, waitFor } from '../processes.ts'

const IS_15 = process.env['MILLRACE_TEST_POSTGRES'] === '15'
const ENVIRONMENT = { LC_ALL: 'C.UTF-8', TZ: 'UTC', PATH: '/usr/bin:/bin' }

export type Cluster = AsyncDisposable & {
  readonly databaseUrl: string
  start(): Promise<void>
  /** Kills the server and every backend at the same moment, with SIGKILL. */
  crash(): Promise<void>
  /** Ends the server as `pg_ctl stop` does: fast rolls back and writes a checkpoint, immediate does neither. */
  stop(mode: 'fast' | 'immediate'): Promise<void>
  /** Stops the server and every backend where they are, as on a machine that hangs. */
  freeze(): Promise<void>
  thaw(): void
}

/** The binaries, and a cluster that `initdb` has made: each test's own is a copy. */
export type ClusterTemplate = { readonly native: string; readonly data: string; remove(): Promise<void> }

export async function makeClusterTemplate(): Promise<ClusterTemplate> {
  const owner = unprivilegedOwner()
  const home = await aHome(owner)
  const data = join(home, CLUSTER)
  const native = IS_15 ? '/usr/lib/postgresql/15' : await prepareBinaries(home, owner, packagedBinaries())
  if (IS_15) await initCluster15(native, data, owner)
  else await initCluster({ cluster: data, home, owner }, native, false)
  return { native, data, remove: () => rm(home, { recursive: true, force: true }) }
}

async function initCluster15(native: string, data: string, owner: Owner | undefined): Promise<void> {
  const args = ['-D', data, '-A', 'trust', '-U', 'millrace', '-E', 'UTF8', '--locale', 'C', '--no-sync']
  const made = spawn(join(native, 'bin', 'initdb'), args, { cwd: '/', env: ENVIRONMENT, stdio: 'ignore', ...owner })
  const code = await new Promise<number | null>((resolve) => made.once('exit', resolve))
  if (code !== 0) throw new Error(`initdb exited with code ${code}`)
}

/** Lets the embedded database of a data directory begin with a copy of the prepared cluster: `initdb` takes long. */
export function layCluster(dataDir: string): void {
  if (IS_15) return // that cluster is none for the embedded server
  mkdirSync(dataDir, { recursive: true })
  copyCluster(inject('cluster').data, join(dataDir, CLUSTER))
}

export function copyCluster(from: string, to: string): void {
  execFileSync('cp', ['-a', from, to])
}

/** A folder that the user of the servers can enter. */
async function aHome(owner: Owner | undefined): Promise<string> {
  const home = await mkdtemp(join(tmpdir(), 'millrace-durable-'))
  await chmod(home, 0o755)
  if (owner) await chown(home, owner.uid, owner.gid)
  return home
}

export async function durableCluster(): Promise<Cluster> {
  const owner = unprivilegedOwner()
  const home = await aHome(owner)
  const template = inject('cluster')
  const data = join(home, 'cluster')
  copyCluster(template.data, data)
  const run = (program: string, args: string[]) =>
    spawn(join(template.native, 'bin', program), args, { cwd: '/', env: ENVIRONMENT, stdio: 'ignore', ...owner })

  let server: ChildProcess | undefined
  const ended = async (of: ChildProcess) => {
    await waitFor(() => (of.exitCode !== null || of.signalCode !== null ? true : undefined))
  }
  let frozen: number[] = []
  const freeze = async (of: number) => {
    process.kill(of, 'SIGSTOP')
    // Once it stands still it starts no backend and forgets none.
    await waitFor(() => (statOf(of)?.state === 'T' ? true : undefined))
    frozen = [of, ...childrenOf(of)]
    for (const pid of frozen) process.kill(pid, 'SIGSTOP')
    return frozen
  }
  const cluster: Cluster = {
    databaseUrl: `postgresql://millrace@localhost/postgres?host=${encodeURIComponent(home)}`,
    async start() {
      server = run('postgres', [
        '-D',
        data,
        '-k',
        home,
        '-c',
        'listen_addresses=',
        '-c',
        'fsync=on',
        '-c',
        'max_connections=300',
      ])
      const pid = String(server.pid)
      await waitFor(async () => {
        const lines = (await readFile(join(data, 'postmaster.pid'), 'utf8').catch(() => '')).split('\n')
        return lines[0] === pid && lines[7]?.trim() === 'ready' ? true : undefined
      })
    },
    async crash() {
      if (server?.pid === undefined) return
      const all = await freeze(server.pid)
      for (const pid of all) process.kill(pid, 'SIGKILL')
      await ended(server)
      await waitFor(() => (all.some(isAlive) ? undefined : true))
      server = undefined
    },
    async stop(mode) {
      if (server === undefined) return
      server.kill(mode === 'fast' ? 'SIGINT' : 'SIGQUIT')
      await ended(server)
      server = undefined
    },
    async freeze() {
      if (server?.pid !== undefined) await freeze(server.pid)
    },
    thaw() {
      // The server last: it would forget those that have ended.
      for (const pid of frozen.splice(0).reverse()) process.kill(pid, 'SIGCONT')
    },
    async [Symbol.asyncDispose]() {
      await cluster.crash()
      await rm(home, { recursive: true, force: true })
    },
  }
  // Also after a test that ran out of time.
  onTestFinished(() => cluster[Symbol.asyncDispose]())
  await cluster.start()
  return cluster
}

function childrenOf(parent: number): number[] {
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => pid > 0 && statOf(pid)?.parent === parent)
}

/** Of Linux: T is the state of a process that was stopped. */
function statOf(pid: number): { readonly state: string | undefined; readonly parent: number } | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const [state, parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return { state, parent: Number(parent) }
  } catch {
    return undefined
  }
}
