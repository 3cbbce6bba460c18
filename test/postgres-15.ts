// PostgreSQL 15 is the oldest release that Millrace supports. Debian's packages bring it; the cluster is
// made for the run and thrown away.
import { spawn } from 'node:child_process'
import { chown, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Owner, unprivilegedOwner } from '../src/db/embedded-owner.ts'
import { PATIENCE_MS } from './processes.ts'

const BIN = '/usr/lib/postgresql/15/bin'
const environment = { LC_ALL: 'C.UTF-8', TZ: 'UTC', PATH: '/usr/bin:/bin' }

export async function startPostgres15(): Promise<{ databaseUrl: string; stop(): Promise<void> }> {
  const owner = unprivilegedOwner()
  const folder = await mkdtemp(join(tmpdir(), 'millrace-pg15-'))
  if (owner) await chown(folder, owner.uid, owner.gid)
  const cluster = join(folder, 'cluster')
  await run('initdb', ['-D', cluster, '-A', 'trust', '-U', 'millrace', '-E', 'UTF8', '--no-sync'], owner)
  const unsafe = ['fsync=off', 'synchronous_commit=off', 'full_page_writes=off', 'max_connections=300']
  const settings = ['listen_addresses=', 'timezone=UTC', ...unsafe].flatMap((setting) => ['-c', setting])
  const child = spawn(join(BIN, 'postgres'), ['-D', cluster, '-k', folder, ...settings], {
    cwd: '/',
    env: environment,
    stdio: 'ignore',
    ...owner,
  })
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  await waitUntilReady(cluster)
  return {
    databaseUrl: `postgresql://millrace@localhost/postgres?host=${encodeURIComponent(folder)}`,
    async stop() {
      child.kill('SIGINT')
      await ended
      await rm(folder, { recursive: true, force: true })
    },
  }
}

async function waitUntilReady(cluster: string): Promise<void> {
  const deadline = Date.now() + PATIENCE_MS
  while (Date.now() < deadline) {
    const lines = (await readFile(join(cluster, 'postmaster.pid'), 'utf8').catch(() => '')).split('\n')
    if (lines[7]?.trim() === 'ready') return
    await sleep(20)
  }
  throw new Error('PostgreSQL 15 did not start')
}

function run(program: string, args: string[], owner: Owner | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(join(BIN, program), args, { cwd: '/', env: environment, stdio: 'ignore', ...owner })
    child.once('error', () => reject(new Error(`${BIN}/${program} is not there: install postgresql-15`)))
    child.once('exit', (code) => (code === 0 ? resolve() : reject(new Error(`${program} ended with ${code}`))))
  })
}
