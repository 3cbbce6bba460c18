import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { chmod, chown, lstat, mkdir, open, readdir, readlink, rename, rm, stat, symlink } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { EmbeddedUnusable } from './embedded-errors.ts'
import { endAll } from './embedded-orphans.ts'
import { isRoot, mayEnter, type Owner, unprivilegedOwner } from './embedded-owner.ts'

/** The major version is in the name: a cluster of another one cannot be opened, and must not be tried. */
export const CLUSTER = 'postgres-18'

export type Place = {
  /** The cluster's own folder. */
  readonly cluster: string
  /** The folder around it, for what else the server's user must reach. */
  readonly home: string
  readonly owner: Owner | undefined
}

export type PlaceOptions = {
  dataDir: string
  /** Where clusters go whose data directory the unprivileged user cannot enter. */
  systemDir: string
}

/**
 * Chooses where the cluster lives and who owns it. That is `<data>/postgres-18`, except when root starts
 * in a folder that only root may enter, such as its home: then the cluster goes below `systemDir`, and
 * `<data>/postgres-18` is a link to it, so that the data directory still leads to its data.
 */
export async function placeCluster({ dataDir, systemDir }: PlaceOptions): Promise<Place> {
  const named = join(dataDir, CLUSTER)
  const found = await lstat(named).catch(() => undefined)
  if (found?.isSymbolicLink()) return describePlace(await readlink(named))
  if (found) return describePlace(named)
  const owner = unprivilegedOwner()
  if (owner) await letPass(dataDir)
  if (mayEnter(owner, dataDir)) return { cluster: named, home: dataDir, owner }

  const home = join(systemDir, randomUUID())
  try {
    await mkdir(home, { recursive: true, mode: 0o755 })
  } catch (error) {
    throw new EmbeddedUnusable(
      `only root may enter ${dataDir}, and the database must not run as root; ${systemDir} cannot be used instead (${(error as Error).message})`,
      'start as an ordinary user, or choose a data directory others may pass through (--data, MILLRACE_DATA)',
    )
  }
  // The link comes first: a start that is killed here leaves a link to nothing, which the next one fills.
  await symlink(join(home, CLUSTER), named)
  return { cluster: join(home, CLUSTER), home, owner }
}

async function describePlace(cluster: string): Promise<Place> {
  const home = dirname(cluster)
  await mkdir(home, { recursive: true, mode: 0o755 })
  const found = await stat(cluster).catch(() => undefined)
  const uid = process.getuid?.()
  if (found && uid !== undefined && !isRoot() && found.uid !== uid) {
    throw new EmbeddedUnusable(
      `the cluster ${cluster} belongs to the user with id ${found.uid}, and this process runs as ${uid}`,
      `start as that user or as root, or hand it over: chown -R ${uid} ${cluster}`,
    )
  }
  const owner = isRoot() && found && found.uid !== 0 ? { uid: found.uid, gid: found.gid } : unprivilegedOwner()
  if (owner) await letPass(home)
  if (!mayEnter(owner, home)) {
    throw new EmbeddedUnusable(
      `the database runs as the user with id ${owner?.uid}, who cannot enter ${home}`,
      `let others pass through the folders above it (chmod o+x), or start as an ordinary user`,
    )
  }
  return { cluster, home, owner }
}

/** Lets others pass through the data directory without seeing what is in it; folders above are the operator's. */
async function letPass(dataDir: string): Promise<void> {
  const { mode } = await stat(dataDir)
  if ((mode & 0o011) !== 0o011) await chmod(dataDir, (mode & 0o7777) | 0o011)
}

/**
 * Makes the cluster unless it exists. It is made under another name and renamed when it is whole, so a
 * cluster that is there is a complete one; halves left by a crash are removed.
 */
export async function initCluster(place: Place, native: string, isDurable: boolean): Promise<void> {
  const prefix = `${basename(place.cluster)}.making-`
  for (const name of await readdir(place.home)) {
    if (!name.startsWith(prefix)) continue
    // The initdb of a killed parent may still be writing there; it ends when its server does.
    await endAll(join(place.home, name))
    await rm(join(place.home, name), { recursive: true, force: true, maxRetries: 10 })
  }
  if (await stat(join(place.cluster, 'PG_VERSION')).catch(() => undefined)) return
  if (await stat(place.cluster).catch(() => undefined)) {
    throw new EmbeddedUnusable(
      `the folder ${place.cluster} is there but holds no database`,
      'restore it from a backup, or remove it to start with an empty database',
    )
  }
  const draft = join(place.home, `${prefix}${randomUUID()}`)
  await mkdir(draft, { mode: 0o700 })
  if (place.owner) await chown(draft, place.owner.uid, place.owner.gid)
  await runInitdb(native, draft, place.owner, isDurable)
  await rename(draft, place.cluster)
  await syncFolder(place.home)
}

async function runInitdb(native: string, draft: string, owner: Owner | undefined, isDurable: boolean): Promise<void> {
  // The built-in provider makes sorting and case the same on every system and after every upgrade of it.
  // Few old systems lack C.UTF-8 for the rest; plain C serves there.
  const common = ['--pgdata', draft, '--username', 'millrace', '--auth', 'trust', '--encoding', 'UTF8']
  const provider = ['--locale-provider', 'builtin', '--builtin-locale', 'C.UTF-8', '--no-instructions']
  let said = ''
  for (const locale of ['C.UTF-8', 'C']) {
    const args = [...common, ...provider, '--locale', locale, ...(isDurable ? [] : ['--no-sync'])]
    const run = await runToEnd(join(native, 'bin', 'initdb'), args, owner)
    if (run.exitCode === 0) return
    said = run.output.trim()
    if (!said.includes('locale')) break
  }
  await rm(draft, { recursive: true, force: true })
  throw new EmbeddedUnusable(
    `initdb did not make the embedded database: ${lastLines(said, 3)}`,
    `${cureOf(said)}, or use a server of your own: MILLRACE_DATABASE_URL=postgresql://…`,
  )
}

function cureOf(said: string): string {
  return said.includes('user does not exist')
    ? 'run as a user that the system knows by name: containers may run under a number that is in no list of users'
    : 'mend what initdb names'
}

function runToEnd(command: string, args: string[], owner: Owner | undefined) {
  return new Promise<{ exitCode: number | null; output: string }>((resolve, reject) => {
    const child = spawn(command, args, { cwd: '/', env: SERVER_ENV, stdio: ['ignore', 'pipe', 'pipe'], ...owner })
    let output = ''
    child.stdout?.on('data', (chunk) => {
      output += chunk
    })
    child.stderr?.on('data', (chunk) => {
      output += chunk
    })
    child.on('error', reject)
    child.on('close', (exitCode) => resolve({ exitCode, output }))
  })
}

/** Nothing of the caller's: PGPORT, PGDATA, LANG and the like would change what the server does. */
export const SERVER_ENV = { LC_ALL: 'C', TZ: 'UTC', PATH: '/usr/bin:/bin' }

export function lastLines(text: string, count: number): string {
  return text.trim().split('\n').slice(-count).join(' | ')
}

async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
