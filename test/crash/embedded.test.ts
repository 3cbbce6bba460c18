import { readFileSync, statSync } from 'node:fs'
import { chmod, chown, cp, lstat, mkdir, readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import pg from 'pg'
import { expect, test } from 'vitest'
import { type Embedded, startEmbedded } from '../../src/db/embedded.ts'
import { packagedBinaries } from '../../src/db/embedded-binaries.ts'
import { DataDirectoryInUse } from '../../src/db/embedded-errors.ts'
import { isRoot, unprivilegedOwner } from '../../src/db/embedded-owner.ts'
import { isAlive, waitFor } from '../processes.ts'
import { type Program, runProgram } from '../program.ts'
import { scratch } from '../scratch.ts'
import { layCluster } from './cluster.ts'

type Held = { databaseUrl: string; serverPid: number; cluster: string }

const hold = (...args: string[]) => runProgram('test/crash/hold-embedded.ts', { args })
const heldBy = async (program: Program) => JSON.parse(await program.line(/databaseUrl/)) as Held

async function query(databaseUrl: string, sql: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: databaseUrl })
  // A server that dies under the client is told through the query as well.
  client.on('error', () => {})
  await client.connect()
  try {
    return (await client.query(sql)).rows as unknown[]
  } finally {
    await client.end().catch(() => {})
  }
}

async function using<T>(options: Parameters<typeof startEmbedded>[0], body: (e: Embedded) => Promise<T>): Promise<T> {
  const embedded = await startEmbedded({ durable: false, ...options })
  try {
    return await body(embedded)
  } finally {
    await embedded.stop()
  }
}

async function removeLinks(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    if ((await lstat(join(folder, name))).isSymbolicLink()) await rm(join(folder, name))
  }
}

/** Until the end of the block: what is in a closed folder cannot be removed, either. */
async function readOnly(folder: string): Promise<AsyncDisposable> {
  await chmod(folder, 0o555)
  return { [Symbol.asyncDispose]: () => chmod(folder, 0o755) }
}

test('a first start makes a UTF-8 database and a stop leaves no server behind', async () => {
  await using folder = await scratch()
  const pid = await using({ dataDir: folder.path }, async (embedded) => {
    const rows = await query(
      embedded.databaseUrl,
      `select current_database() as database, pg_encoding_to_char(encoding) as encoding, datlocale as locale,
              lower('ÄΣ') as lowered, current_setting('listen_addresses') as addresses
       from pg_database where datname = current_database()`,
    )
    expect(rows).toEqual([{ database: 'millrace', encoding: 'UTF8', locale: 'C.UTF-8', lowered: 'äσ', addresses: '' }])
    return embedded.pid ?? 0
  })
  expect(pid).toBeGreaterThan(0)
  expect(isAlive(pid)).toBe(false)
})

test('a server writes through to the disk unless it is told not to', async () => {
  await using folder = await scratch()
  layCluster(folder.path)
  await using({ dataDir: folder.path, durable: true }, async (embedded) => {
    const sql = `select name, setting from pg_settings where name in ('fsync', 'synchronous_commit', 'full_page_writes')`
    for (const row of await query(embedded.databaseUrl, sql)) expect(row).toMatchObject({ setting: 'on' })
  })
})

test('a restart keeps the data', async () => {
  await using folder = await scratch()
  layCluster(folder.path)
  const dataDir = folder.path
  await using({ dataDir }, (embedded) => query(embedded.databaseUrl, 'create table kept as select 7420 as port'))
  const rows = await using({ dataDir }, (embedded) => query(embedded.databaseUrl, 'select port from kept'))
  expect(rows).toEqual([{ port: 7420 }])
})

test('a server that is killed under a client comes back with what was committed', async () => {
  await using folder = await scratch()
  layCluster(folder.path)
  const events: string[] = []
  const onEvent = (message: string) => events.push(message)
  await using({ dataDir: folder.path, durable: true, onEvent }, async (embedded) => {
    await query(embedded.databaseUrl, 'create table kept as select 1 as id')
    const busy = query(embedded.databaseUrl, 'select pg_sleep(60)').catch((error: Error) => error)
    const killed = embedded.pid ?? 0
    process.kill(killed, 'SIGKILL')
    await waitFor(() => (embedded.pid !== undefined && embedded.pid !== killed ? true : undefined))
    expect(await query(embedded.databaseUrl, 'select id from kept')).toEqual([{ id: 1 }])
    expect(await busy).toBeInstanceOf(Error)
    expect(events.at(-1)).toBe('the embedded database runs again')
  })
})

test('after a killed parent the next start takes over, with what was committed', async () => {
  await using folder = await scratch()
  layCluster(folder.path)
  await using first = hold(folder.path)
  const held = await heldBy(first)
  await query(held.databaseUrl, 'create table kept as select 1 as id')
  first.child.kill('SIGKILL')
  await first.exitCode
  expect(isAlive(held.serverPid)).toBe(true)

  await using second = hold(folder.path)
  const again = await heldBy(second)
  expect(again.serverPid).not.toBe(held.serverPid)
  expect(isAlive(held.serverPid)).toBe(false)
  expect(await query(again.databaseUrl, 'select id from kept')).toEqual([{ id: 1 }])
})

test('after parent and server are killed at once the next start recovers what was committed', async () => {
  await using folder = await scratch()
  layCluster(folder.path)
  await using first = hold(folder.path)
  const held = await heldBy(first)
  await query(held.databaseUrl, 'create table kept as select 1 as id')
  first.child.kill('SIGKILL')
  process.kill(held.serverPid, 'SIGKILL')
  await first.exitCode
  const rows = await using({ dataDir: folder.path, durable: true }, (embedded) =>
    query(embedded.databaseUrl, 'select id from kept'),
  )
  expect(rows).toEqual([{ id: 1 }])
})

test('a second live process on the data directory is refused with the pid of the first', async () => {
  await using folder = await scratch()
  layCluster(folder.path)
  await using first = hold(folder.path)
  const held = await heldBy(first)
  const refusal = await startEmbedded({ dataDir: folder.path }).catch((error: unknown) => error)
  expect(refusal).toBeInstanceOf(DataDirectoryInUse)
  expect(refusal).toMatchObject({
    code: 'data_directory_in_use',
    message: `the data directory ${folder.path} is in use by the process with pid ${first.pid}`,
  })
  expect(isAlive(held.serverPid)).toBe(true)
})

test('a live holder is respected even when its lock file was removed', async () => {
  await using folder = await scratch()
  layCluster(folder.path)
  await using first = hold(folder.path)
  const held = await heldBy(first)
  await rm(join(folder.path, 'postgres-18.lock'))
  const refusal = await startEmbedded({ dataDir: folder.path }).catch((error: unknown) => error)
  expect(refusal).toMatchObject({ code: 'data_directory_in_use', pid: first.pid })
  expect(await query(held.databaseUrl, 'select 1 as one')).toEqual([{ one: 1 }])
  first.child.kill('SIGTERM')
  expect(await first.exitCode).toBe(0)
})

test('a lock whose process id was given to another process does not keep anybody out', async () => {
  await using folder = await scratch()
  layCluster(folder.path)
  await using first = hold(folder.path)
  await heldBy(first)
  const lockFile = join(folder.path, 'postgres-18.lock')
  const lock = JSON.parse(readFileSync(lockFile, 'utf8')) as { pid: number }
  first.child.kill('SIGKILL')
  await first.exitCode
  // This process lives and began at another time than the lock says.
  await writeFile(lockFile, JSON.stringify({ ...lock, pid: process.pid }))
  await using({ dataDir: folder.path }, (embedded) => query(embedded.databaseUrl, 'select 1'))
})

test('a cluster that initdb did not finish is thrown away', async () => {
  await using folder = await scratch()
  const half = join(folder.path, 'postgres-18.making-half')
  await mkdir(half, { recursive: true })
  await writeFile(join(half, 'PG_VERSION'), '18\n')
  await using({ dataDir: folder.path }, (embedded) => query(embedded.databaseUrl, 'select 1'))
  expect(await readdir(folder.path)).not.toContain('postgres-18.making-half')
})

test('a first start that is killed while it makes the cluster is made good by the next', async () => {
  await using folder = await scratch()
  await using first = hold(folder.path)
  await waitFor(() => readdir(folder.path).then((names) => names.find((name) => name.includes('.making-'))))
  first.child.kill('SIGKILL')
  await first.exitCode
  await using second = hold(folder.path)
  expect(await query((await heldBy(second)).databaseUrl, 'select 1 as one')).toEqual([{ one: 1 }])
})

test('library links that the package lost are made again', async () => {
  await using folder = await scratch()
  const native = join(folder.path, 'package', 'native')
  await cp(packagedBinaries().native, native, { recursive: true, verbatimSymlinks: true })
  const libraries = join(native, 'lib')
  await removeLinks(libraries)
  const dataDir = join(folder.path, 'data')
  await using({ dataDir, binaries: { native, version: 'test' } }, (embedded) => query(embedded.databaseUrl, 'select 1'))
  expect((await lstat(join(libraries, 'libpq.so.5'))).isSymbolicLink()).toBe(true)
})

test('a user whose node_modules is read-only and lacks the links gets a copy that has them', async () => {
  await using folder = await scratch()
  // The user who runs the tests; as root, whom nothing is closed to, an ordinary one.
  const owner = unprivilegedOwner()
  const native = join(folder.path, 'package', 'native')
  await cp(packagedBinaries().native, native, { recursive: true, verbatimSymlinks: true })
  await removeLinks(join(native, 'lib'))
  await using _closed = await readOnly(join(native, 'lib'))
  const dataDir = join(folder.path, 'data')
  // A copy of an earlier release, as closed as what it was made from.
  const older = join(dataDir, 'postgres-binaries-older')
  await mkdir(join(older, 'lib'), { recursive: true })
  for (const path of [dataDir, older, join(older, 'lib')]) if (owner) await chown(path, owner.uid, owner.gid)
  await chmod(older, 0o555)
  await using program = runProgram('test/crash/hold-embedded.ts', { args: [dataDir, native], owner })
  const held = await heldBy(program)
  expect(await query(held.databaseUrl, 'select 1 as one')).toEqual([{ one: 1 }])
  const copies = (await readdir(dataDir)).filter((name) => name.startsWith('postgres-binaries-'))
  expect(copies).toEqual(['postgres-binaries-test'])
  program.child.kill('SIGTERM')
  expect(await program.exitCode).toBe(0)
})

test('a data directory whose path is too long for a socket works all the same', async () => {
  await using folder = await scratch()
  const dataDir = join(folder.path, 'a-long-name-'.repeat(8))
  layCluster(dataDir)
  await using({ dataDir }, async (embedded) => {
    expect(embedded.databaseUrl).not.toContain('a-long-name')
    expect(await query(embedded.databaseUrl, 'select 1 as one')).toEqual([{ one: 1 }])
  })
})

test('the server runs as who started it, and started as root as an unprivileged user without groups', async () => {
  await using folder = await scratch()
  const groupsOf = (pid = 0) => /^Groups:(.*)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]?.trim()
  const user = unprivilegedOwner()?.uid ?? process.getuid?.()
  await using({ dataDir: folder.path }, async (embedded) => {
    expect(user).toBeGreaterThan(0)
    expect(statSync(`/proc/${embedded.pid}`).uid).toBe(user)
    expect(statSync(embedded.cluster)).toMatchObject({ uid: user })
    expect(statSync(embedded.cluster).mode & 0o777).toBe(0o700)
    expect(groupsOf(embedded.pid)).toBe(isRoot() ? '' : groupsOf(process.pid))
  })
})

test('in a home nobody else may enter a user has the cluster within, and root elsewhere, linked from its data', async () => {
  await using folder = await scratch()
  const home = join(folder.path, 'home')
  const systemDir = join(folder.path, 'system')
  const dataDir = join(home, 'data')
  await mkdir(home, { mode: 0o700 })
  const native = join(home, 'native')
  await cp(packagedBinaries().native, native, { recursive: true, verbatimSymlinks: true })
  const events: string[] = []
  const onEvent = (message: string) => events.push(message)
  const options = { dataDir, systemDir, onEvent, binaries: { native, version: 'test' } }
  await using(options, async (embedded) => {
    expect(embedded.cluster.startsWith(isRoot() ? systemDir : dataDir)).toBe(true)
    const elsewhere = `only root may enter ${dataDir}: the database is kept in ${embedded.cluster}`
    expect(events).toEqual(isRoot() ? [elsewhere] : [])
    await query(embedded.databaseUrl, 'create table kept as select 1 as id')
  })
  const rows = await using(options, (embedded) => query(embedded.databaseUrl, 'select id from kept'))
  expect(rows).toEqual([{ id: 1 }])
  expect((await lstat(join(dataDir, 'postgres-18'))).isSymbolicLink()).toBe(isRoot())
  expect(statSync(home).mode & 0o777).toBe(0o700)
})
