import { spawn } from 'node:child_process'
import { chmod, chown, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { unprivilegedOwner } from '../../src/db/embedded-owner.ts'
import { waitFor } from '../processes.ts'

export type Bouncer = AsyncDisposable & { readonly databaseUrl: string }

/** Debian's pgbouncer in transaction mode, before the server of the URL. */
export async function bouncerTo(databaseUrl: string): Promise<Bouncer> {
  const url = new URL(databaseUrl)
  const host = url.searchParams.get('host') ?? url.hostname
  const owner = unprivilegedOwner()
  const home = await mkdtemp(join(tmpdir(), 'millrace-pgbouncer-'))
  await chmod(home, 0o755)
  if (owner) await chown(home, owner.uid, owner.gid)
  const port = await freePort()
  const ini = join(home, 'pgbouncer.ini')
  await writeFile(
    ini,
    `[databases]
* = host=${host} port=${url.port || 5432} user=${url.username}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = 8
max_client_conn = 200
logfile = ${join(home, 'log')}
`,
  )
  const child = spawn('/usr/sbin/pgbouncer', [ini], { cwd: '/', env: {}, stdio: 'ignore', ...owner })
  let failure: Error | undefined
  child.once('error', () => {
    failure = new Error('/usr/sbin/pgbouncer is not there: install pgbouncer')
  })
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()))
  const end = async () => {
    child.kill('SIGKILL')
    if (failure === undefined) await ended
    await rm(home, { recursive: true, force: true })
  }
  onTestFinished(end)
  await waitFor(async () => {
    if (failure) throw failure
    return (await canConnect(port)) ? true : undefined
  })
  return {
    databaseUrl: `postgresql://${url.username}@127.0.0.1:${port}${url.pathname}`,
    [Symbol.asyncDispose]: end,
  }
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number }
      server.close(() => resolve(port))
    })
  })
}

function canConnect(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket.once('connect', () => resolve(true))
    socket.once('error', () => resolve(false))
    socket.once('close', () => socket.destroy())
    socket.unref()
    socket.once('connect', () => socket.end())
  })
}
