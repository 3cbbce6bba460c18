import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

/** A process by its number and the time it began: the number alone is given to another process sooner or later. */
export type ProcessIdentity = { readonly pid: number; readonly startedAt: string }

export function thisProcess(): ProcessIdentity {
  return { pid: process.pid, startedAt: startOf(process.pid) ?? '' }
}

export function isAlive({ pid, startedAt }: ProcessIdentity): boolean {
  return startOf(pid) === startedAt
}

/** When the process began, in whatever form the system says it, without spaces; undefined when it does not live. */
function startOf(pid: number): string | undefined {
  try {
    return process.platform === 'linux' ? startInProc(pid) : startByPs(pid)
  } catch {
    return undefined
  }
}

function startInProc(pid: number): string | undefined {
  const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  // The command's name stands in parentheses and may hold anything, so fields count from the last one.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  const isZombie = fields[0] === 'Z'
  return isZombie ? undefined : `${boot}.${fields[19]}`
}

function startByPs(pid: number): string {
  return execFileSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8' })
    .trim()
    .replace(/\s+/g, '_')
}
