// The lock of a data directory is a file that names its holder by process id *and* start time: a number
// alone would be mistaken for its holder when the system gives it to another process. The file appears
// whole by link(2), so that nobody reads half a name, and a holder that was killed leaves one that the
// next starter sees through.
import { execFileSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { link, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { DataDirectoryInUse } from './embedded-errors.ts'

type Holder = { pid: number; startedAt: string; nonce: string }

export type DataLock = { release(): Promise<void> }

/** Takes the lock file for this process, or throws `DataDirectoryInUse` naming the live holder. */
export async function lockDataDirectory(lockFile: string): Promise<DataLock> {
  const mine: Holder = { pid: process.pid, startedAt: startOf(process.pid) ?? '', nonce: randomUUID() }
  const draft = `${lockFile}.${mine.nonce}`
  await writeFile(draft, JSON.stringify(mine), { mode: 0o600 })
  try {
    for (;;) {
      if (await linkNew(draft, lockFile)) return { release: () => release(lockFile, mine) }
      const holder = await readHolder(lockFile)
      if (holder && isAlive(holder)) throw new DataDirectoryInUse(dirname(lockFile), holder.pid)
      await removeStale(lockFile, holder)
    }
  } finally {
    await rm(draft, { force: true })
  }
}

async function linkNew(draft: string, lockFile: string): Promise<boolean> {
  try {
    await link(draft, lockFile)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  }
}

async function readHolder(file: string): Promise<Holder | undefined> {
  try {
    return JSON.parse(await readFile(file, 'utf8')) as Holder
  } catch {
    return undefined
  }
}

/**
 * Moves the dead holder's file aside. Two starters may do so at once: the slower one could move the
 * faster one's new lock, so what was moved is read again and put back when it is not the dead one.
 */
async function removeStale(lockFile: string, dead: Holder | undefined): Promise<void> {
  const aside = `${lockFile}.${randomUUID()}`
  try {
    await rename(lockFile, aside)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return
    throw error
  }
  const moved = await readHolder(aside)
  if (moved && moved.nonce !== dead?.nonce) await linkNew(aside, lockFile)
  await rm(aside, { force: true })
}

async function release(lockFile: string, mine: Holder): Promise<void> {
  const holder = await readHolder(lockFile)
  if (holder?.nonce === mine.nonce) await rm(lockFile, { force: true })
}

function isAlive(holder: Holder): boolean {
  const startedAt = startOf(holder.pid)
  return startedAt !== undefined && startedAt === holder.startedAt
}

/** When the process began, in whatever form the system says it; undefined when there is no such process. */
function startOf(pid: number): string | undefined {
  if (process.platform === 'linux') {
    try {
      const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
      const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
      // The command's name stands in parentheses and may hold anything, so fields count from the last one.
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
      const isZombie = fields[0] === 'Z'
      return isZombie ? undefined : `${boot} ${fields[19]}`
    } catch {
      return undefined
    }
  }
  try {
    return execFileSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8' }).trim()
  } catch {
    return undefined
  }
}
