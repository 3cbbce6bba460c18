// What the end of a task's command means. Exit codes are those of the queue that the change sets come from: 99 there was
// nothing to do, 100 it will not help to try again, 111 it was the moment that was wrong.
import { type Later, later, PermanentError, TransientError } from '../engine/index.ts'
import type { Ending } from '../runners/index.ts'

export const SKIPPED = 99
const PERMANENT = 100
export const TEMPORARY = 111

const MOST_POSTPONEMENTS = 10
const FIRST_SECONDS = 2
const LONGEST_SECONDS = 600
const MOST_AWAY = 5
const FIRST_AWAY_SECONDS = 10

/** What programs see of an end that was no success. */
type Facts = { readonly exit_code: number | null; readonly signal?: string; readonly reason?: string }

/**
 * The exit code of a success, or when to try again. Anything else is thrown: how often that is tried again is the task's
 * own number of retries.
 *
 * @param postponed how often the task has ended by 111 in a row before
 */
export function judge(ending: Ending, postponed: number): { readonly exitCode: number } | Later {
  switch (ending.type) {
    case 'exited':
      return judgeExit(ending, postponed)
    case 'signaled':
      throw retry(`ended by ${ending.signal}${told(ending)}`, { exit_code: null, signal: ending.signal })
    case 'timed_out':
      throw retry(`timed out after ${ending.afterMs / 1000} s`, { exit_code: null, reason: 'timed_out' })
    case 'spawn_failed': {
      const facts: Facts = { exit_code: null, reason: 'spawn_failed' }
      const message = `could not be started: ${ending.reason}`
      // A program that is not there will not be there in a minute; what else may be wrong with a host or an engine passes.
      if (ending.errno === 'ENOENT' || ending.errno === 'EACCES') throw new PermanentError(message, { data: facts })
      throw retry(message, facts)
    }
    case 'lost':
      throw retry(`lost: ${ending.reason}`, { exit_code: null, reason: 'lost' })
    case 'stopped':
      throw retry('stopped', { exit_code: null, reason: 'stopped' })
  }
}

/** When to try again after the repository did not answer; undefined when that was often enough. */
export function whenBack(postponed: number): Later | undefined {
  return postponed < MOST_AWAY ? later({ delaySeconds: FIRST_AWAY_SECONDS * 2 ** postponed }) : undefined
}

function judgeExit(ending: Extract<Ending, { type: 'exited' }>, postponed: number): { exitCode: number } | Later {
  const { code } = ending
  if (code === 0 || code === SKIPPED) return { exitCode: code }
  const message = `exited with ${code}${told(ending)}`
  if (code === PERMANENT) throw new PermanentError(message, { data: { exit_code: code } satisfies Facts })
  if (code === TEMPORARY && postponed < MOST_POSTPONEMENTS)
    return later({ delaySeconds: Math.min(LONGEST_SECONDS, FIRST_SECONDS * 2 ** postponed) })
  throw retry(message, { exit_code: code })
}

const told = ({ note }: { readonly note?: string }) => (note === undefined ? '' : ` (${note})`)

function retry(message: string, data: Facts): TransientError {
  const error = new TransientError(message, { data })
  // Nobody looks for a fault of the program here.
  error.stack = `${error.name}: ${message}`
  return error
}
