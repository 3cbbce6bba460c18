// The lock of a data directory is a file that names its holder by process id *and* start time: a number
// alone would be mistaken for its holder when the system gives it to another process. The file appears
// whole by link(2), so that nobody reads half a name, and a holder that was killed leaves one that the
// next starter sees through.
import { randomUUID } from 'node:crypto'
import { link, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { DataDirectoryInUse } from './embedded-errors.ts'
import { isAlive, type ProcessIdentity, thisProcess } from './process-identity.ts'

type Holder = ProcessIdentity & { nonce: string }

export type DataLock = { release(): Promise<void> }

/** Takes the lock file for this process, or throws `DataDirectoryInUse` naming the live holder. */
export async function lockDataDirectory(lockFile: string): Promise<DataLock> {
  const mine: Holder = { ...thisProcess(), nonce: randomUUID() }
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
