import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { chmodSync, chownSync, existsSync, mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'

/** The same for every contender. Durability is PostgreSQL's default: fsync, synchronous_commit, full pages. */
export const POSTGRES_SETTINGS = {
  fsync: 'on',
  synchronous_commit: 'on',
  full_page_writes: 'on',
  shared_buffers: '1GB',
  max_wal_size: '8GB',
  checkpoint_timeout: '30min',
  max_connections: '200',
}

/** BullMQ's guide asks for append-only persistence, flushed each second, and no eviction. */
export const REDIS_SETTINGS = { appendonly: 'yes', appendfsync: 'everysec', 'maxmemory-policy': 'noeviction', save: '' }

export type Postgres = {
  version: string
  /** Makes an empty database, dropping one of the same name, and answers its address. */
  freshDatabase(name: string): Promise<string>
  url(database: string): string
  query: (sql: string) => Promise<Record<string, unknown>[]>
  stop(): Promise<void>
}

export async function startPostgres(bin: string, givenUrl: string | undefined): Promise<Postgres> {
  if (givenUrl) return attach(givenUrl, async () => {})
  const owner = unprivileged('postgres')
  const folder = mkdtempSync(join(tmpdir(), 'millrace-bench-'))
  if (owner) chownSync(folder, owner.uid, owner.gid)
  chmodSync(folder, 0o700)
  const data = join(folder, 'data')
  const port = await freePort()
  execFileSync(join(bin, 'initdb'), ['-D', data, '-A', 'trust', '-U', 'postgres', '-E', 'UTF8', '--locale=C.UTF-8'], {
    stdio: ['ignore', 'ignore', 'inherit'],
    cwd: folder,
    ...owner,
  })
  const settings = Object.entries(POSTGRES_SETTINGS).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  const args = ['-D', data, '-p', String(port), '-h', '127.0.0.1', '-k', folder, ...settings]
  const server = spawn(join(bin, 'postgres'), args, { stdio: 'ignore', cwd: folder, ...owner })
  const forget = endWithParent(server, 'SIGQUIT', folder)
  return attach(`postgres://postgres@127.0.0.1:${port}/postgres`, async () => {
    forget()
    await end(server, 'SIGINT')
    rmSync(folder, { recursive: true, force: true })
  })
}

async function attach(adminUrl: string, stop: () => Promise<void>): Promise<Postgres> {
  const pool = new pg.Pool({ connectionString: adminUrl, max: 2 })
  pool.on('error', () => {})
  await retried(() => pool.query('select 1'))
  const url = (database: string) => {
    const address = new URL(adminUrl)
    address.pathname = `/${database}`
    return address.href
  }
  const query = async (sql: string) => (await pool.query(sql)).rows
  const version = String((await query('show server_version'))[0]?.['server_version'])
  return {
    version,
    url,
    query,
    async freshDatabase(name) {
      await query(`drop database if exists "${name}" with (force)`)
      await query(`create database "${name}"`)
      return url(name)
    },
    async stop() {
      await pool.end()
      await stop()
    },
  }
}

export type Redis = { version: string; url: string; clear(): void; stop(): Promise<void> }

export async function startRedis(): Promise<Redis> {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-bench-redis-'))
  const port = await freePort()
  const settings = Object.entries(REDIS_SETTINGS).flatMap(([name, value]) => [`--${name}`, value])
  const server = spawn('redis-server', ['--port', String(port), '--bind', '127.0.0.1', '--dir', folder, ...settings], {
    stdio: 'ignore',
  })
  const forget = endWithParent(server, 'SIGKILL', folder)
  const ask = (...words: string[]) =>
    execFileSync('redis-cli', ['-p', String(port), ...words], { encoding: 'utf8', stdio: 'pipe' })
  await retried(async () => ask('ping'))
  return {
    version: /redis_version:(\S+)/.exec(ask('info', 'server'))?.[1] ?? 'unknown',
    url: `redis://127.0.0.1:${port}`,
    clear: () => void ask('flushall', 'sync'),
    async stop() {
      forget()
      await end(server, 'SIGTERM')
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** PostgreSQL refuses to run as root; then its files and processes belong to the system's own account. */
function unprivileged(account: string): { uid: number; gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined
  const id = (flag: string) => Number(execFileSync('id', [flag, account], { encoding: 'utf8' }))
  return { uid: id('-u'), gid: id('-g') }
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.on('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      const port = typeof address === 'object' && address ? address.port : 0
      server.close(() => resolve(port))
    })
  })
}

async function retried(attempt: () => Promise<unknown>): Promise<void> {
  for (let tries = 0; ; tries++) {
    try {
      await attempt()
      return
    } catch (error) {
      if (tries === 100) throw error
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
  }
}

/** An interrupted bench leaves neither servers nor their files behind. Answers how to call that off. */
function endWithParent(server: ChildProcess, signal: NodeJS.Signals, folder: string): () => void {
  const clear = () => {
    server.kill(signal)
    rmSync(folder, { recursive: true, force: true })
  }
  process.once('exit', clear)
  return () => process.off('exit', clear)
}

function end(server: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (server.exitCode !== null) return Promise.resolve()
  return new Promise((resolve) => {
    server.once('exit', () => resolve())
    server.kill(signal)
  })
}

/** The folder of PostgreSQL's programs: given, on the path, or where Debian puts them. */
export function postgresBin(given: string | undefined): string | undefined {
  const debian = ['18', '17', '16', '15'].map((version) => `/usr/lib/postgresql/${version}/bin`)
  const places = [given, ...(process.env['PATH'] ?? '').split(':'), ...debian]
  return places.find((place) => place && existsSync(join(place, 'initdb')) && existsSync(join(place, 'pgbench')))
}
