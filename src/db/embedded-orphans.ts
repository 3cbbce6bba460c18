// A server outlives a parent that was killed, and its backends outlive a postmaster that was killed. Either
// keeps a new server off the cluster, so the next start ends them: whatever was committed is on disk. All
// processes of a server have the cluster as their working directory, which tells them from a stranger that
// was given the same process id. A server also carries its holder on its command line: one whose holder
// lives is no orphan, even when the lock file was removed.
import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync, readlinkSync, realpathSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { DataDirectoryInUse } from './embedded-errors.ts'
import { isAlive, type ProcessIdentity, thisProcess } from './process-identity.ts'

const HOLDER = 'millrace.holder'
const FAST_MS = 10_000 // a shutdown checkpoint on a slow disk
const IMMEDIATE_MS = 5_000

/**
 * Ends every process that works on the cluster and removes lock files that would name none of them. Throws
 * `DataDirectoryInUse` when the server's holder is another live process.
 */
export async function stopOrphans(cluster: string): Promise<void> {
  const postmaster = readPostmasterPid(cluster)
  if (postmaster !== undefined && isServerOf(cluster, postmaster)) {
    const holder = holderOf(postmaster)
    if (holder && holder.pid !== process.pid && isAlive(holder)) throw new DataDirectoryInUse(cluster, holder.pid)
    signal([postmaster], 'SIGINT')
    await waitUntil(() => !isServerOf(cluster, postmaster), FAST_MS)
  }
  await endAll(cluster)
  if (postmaster !== undefined && isTaken(postmaster)) {
    // A new server gives up on a lock file whose process id is taken, though that may be a stranger by now,
    // or a dead process that nobody waits for, as in a container without an init.
    for (const name of ['postmaster.pid', '.s.PGSQL.5432.lock']) await rm(join(cluster, name), { force: true })
  }
}

/** Ends what is left without a postmaster; a crash recovery follows in any case. */
export async function endAll(cluster: string): Promise<void> {
  signal(processesOf(cluster), 'SIGQUIT')
  await waitUntil(() => processesOf(cluster).length === 0, IMMEDIATE_MS)
  signal(processesOf(cluster), 'SIGKILL')
  await waitUntil(() => processesOf(cluster).length === 0, IMMEDIATE_MS)
}

function readPostmasterPid(cluster: string): number | undefined {
  try {
    const pid = Number.parseInt(readFileSync(join(cluster, 'postmaster.pid'), 'utf8'), 10)
    return pid > 0 ? pid : undefined
  } catch {
    return undefined
  }
}

/** The setting by which a server names the process that holds it. */
export function holderSetting(): string {
  const { pid, startedAt } = thisProcess()
  return `${HOLDER}=${pid}/${startedAt}`
}

function holderOf(postmaster: number): ProcessIdentity | undefined {
  const found = new RegExp(`${HOLDER}=(\\d+)/([^\\s\\0]+)`).exec(commandOf(postmaster))
  return found ? { pid: Number(found[1]), startedAt: found[2] ?? '' } : undefined
}

function commandOf(pid: number): string {
  if (process.platform === 'linux') return readFileSync(`/proc/${pid}/cmdline`, 'utf8')
  return execFileSync('ps', ['-ww', '-o', 'command=', '-p', String(pid)], { encoding: 'utf8' })
}

function processesOf(cluster: string): number[] {
  if (process.platform !== 'linux') {
    const postmaster = readPostmasterPid(cluster)
    return postmaster !== undefined && isServerOf(cluster, postmaster) ? [postmaster] : []
  }
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => pid > 0 && isServerOf(cluster, pid))
}

function isServerOf(cluster: string, pid: number): boolean {
  try {
    if (process.platform === 'linux') {
      const isPostgres = readFileSync(`/proc/${pid}/comm`, 'utf8').startsWith('postgres')
      return isPostgres && readlinkSync(`/proc/${pid}/cwd`) === realpathSync(cluster)
    }
    return commandOf(pid).includes(cluster)
  } catch {
    return false
  }
}

function isTaken(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

function signal(pids: number[], name: NodeJS.Signals): void {
  for (const pid of pids) {
    try {
      process.kill(pid, name)
    } catch {
      // It ended between being seen and being told.
    }
  }
}

async function waitUntil(isTrue: () => boolean, limitMs: number): Promise<void> {
  const deadline = Date.now() + limitMs
  while (!isTrue() && Date.now() < deadline) await sleep(20)
}
