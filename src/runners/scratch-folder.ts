// Folders of attempts below the data folder, which servers may share. The name of each says which process made it, so
// that what a killed process left is found and removed, and nothing else.
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readFileSync, readlinkSync } from 'node:fs'
import { chmod, lstat, mkdtemp, readdir, rm, stat } from 'node:fs/promises'
import { hostname } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { readStat } from './runner-id.ts'

const NAME = /^(.+)-([0-9a-f]{10}\.\d+\.\d+)-\w{6}$/

/** Makes a folder of this process; `name` is the beginning of its name. */
export function makeScratchFolder(parent: string, name: string): Promise<string> {
  return mkdtemp(join(parent, `${name}-${ownSpace()}.${process.pid}.${readStat(process.pid)?.start ?? 0}-`))
}

export type LeftFolder = {
  /** As it was given when the folder was made. */
  readonly name: string
  /** The process that made it has ended. False: it runs elsewhere, on another host or in another container, or ran there. */
  readonly isOwnerDead: boolean
  readonly ageMs: number
}

/** Removes folders of processes that do not run on this host, if `isUnused` agrees; returns how many. */
export async function sweepScratchFolders(
  parent: string,
  isUnused: (folder: LeftFolder) => boolean | Promise<boolean>,
): Promise<number> {
  let count = 0
  for (const entry of await readdir(parent)) {
    const [, name, owner] = NAME.exec(entry) ?? []
    if (name === undefined || owner === undefined) continue
    const isAlive = isOwnerAlive(owner)
    if (isAlive) continue
    const path = join(parent, entry)
    const changed = await stat(path).catch(() => undefined)
    if (changed === undefined) continue
    const ageMs = Date.now() - changed.mtimeMs
    if (!(await isUnused({ name, isOwnerDead: isAlive === false, ageMs }))) continue
    await removeFolder(path)
    count += 1
  }
  return count
}

/** Removes a folder, also what a command made unwritable for itself, and paths longer than the system takes at once. */
export async function removeFolder(folder: string): Promise<void> {
  const remove = () => rm(folder, { recursive: true, force: true, maxRetries: 3 })
  const open = async (at: string) => {
    // The mode of a link would be that of its target.
    const facts = await lstat(at).catch(() => undefined)
    if (facts?.isDirectory()) await chmod(at, 0o700).catch(() => {})
  }
  await remove().catch(async (error: NodeJS.ErrnoException) => {
    for (let at = error.path ?? folder; at.startsWith(folder); at = dirname(at)) await open(at)
    // Goes down folder by folder, where Node names each file by its whole path.
    await promisify(execFile)('rm', ['-rf', '--', folder], { env: { PATH: '/usr/bin:/bin' } }).catch(() => {})
  })
}

/** Undefined when it cannot be said from here. */
function isOwnerAlive(owner: string): boolean | undefined {
  const [space, pid, start] = owner.split('.')
  if (space !== ownSpace() || start === '0') return undefined
  return readStat(Number(pid))?.start === start
}

let known: string | undefined

/** Names the space in which the number of a process holds: one boot of one host, and one container of it. */
function ownSpace(): string {
  known ??= createHash('sha256').update(describeSpace()).digest('hex').slice(0, 10)
  return known
}

function describeSpace(): string {
  try {
    return `${readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()} ${readlinkSync('/proc/self/ns/pid')}`
  } catch {
    return hostname()
  }
}
