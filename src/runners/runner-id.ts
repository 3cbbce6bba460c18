// A runner is known by its server's process: its number, the time it began, because numbers are given again, and the
// namespace in which the number holds, because a server in a container has numbers of its own.
import { readFileSync, readlinkSync } from 'node:fs'

let count = 0

/** An id of this process and no other, now or later on this host: `namespace.pid.start.count`. */
export function newRunnerId(): string {
  count += 1
  return `${ownNamespace()}.${process.pid}.${readStat(process.pid)?.start ?? 0}.${count}`
}

/** Whether the server whose runner this is still lives. Of one in another namespace that cannot be said: it counts. */
export function isRunnerAlive(runnerId: string): boolean {
  const [namespace = '', pid = '', start = ''] = runnerId.split('.')
  if (namespace !== ownNamespace()) return true
  return start === '0' ? isThere(Number(pid)) : readStat(Number(pid))?.start === start
}

function ownNamespace(): string {
  try {
    return /\d+/.exec(readlinkSync('/proc/self/ns/pid'))?.[0] ?? '0'
  } catch {
    return '0'
  }
}

/** Without /proc: the number alone has to do. */
function isThere(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

export type Stat = { readonly parent: number; readonly session: number; readonly start: string }

/** Undefined also for a process that has ended and is only not yet waited for. */
export function readStat(pid: number): Stat | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // The command's name stands in parentheses and may hold anything, so fields count from the last one.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    const [state, parent, , session] = fields
    const threads = Number(fields[17])
    if ((state === 'Z' && threads <= 1) || state === 'X') return undefined // of a zombie other threads may go on
    return { parent: Number(parent), session: Number(session), start: fields[19] ?? '' }
  } catch {
    return undefined
  }
}
