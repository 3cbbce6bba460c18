import { homedir, tmpdir } from 'node:os'
import type { Ending, Running } from './runner.ts'

const LONGEST_MS = 2 ** 31 - 1 // of a timer

export type AttendOptions = {
  readonly graceMs: number
  /** It goes on when the server stops, and is taken up by the next. */
  readonly outlives: boolean
}

/**
 * Waits for the end of a command that belongs to an attempt of a task, and stops it when the attempt's signal says so: its
 * reason carries a `code`. Throws that reason when the command is left to the next server.
 */
export function attend(running: Running, signal: AbortSignal, { graceMs, outlives }: AttendOptions): Promise<Ending> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      const { code } = (signal.reason ?? {}) as { code?: unknown }
      if (code === 'stopping' && outlives) reject(signal.reason as Error)
      // When the lease is lost, whoever has the task by then must not find it running.
      else void running.stop({ graceMs: code === 'lease_lost' ? 0 : graceMs })
    }
    signal.addEventListener('abort', stop, { once: true })
    if (signal.aborted) stop()
    running.ended.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop))
  })
}

/** A time limit as a command takes it; one that no timer can measure is none. */
export function toTimeoutMs(seconds: number | undefined): { timeoutMs?: number } {
  if (seconds === undefined) return {}
  const timeoutMs = Math.max(1, Math.ceil(seconds * 1000))
  return timeoutMs > LONGEST_MS ? {} : { timeoutMs }
}

/** What every command on the host may count on. Nothing of the server's own environment: it may hold secrets. */
export const basicEnvironment = () => ({
  PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
  HOME: homedir(),
  LANG: 'C.UTF-8',
  TMPDIR: tmpdir(),
})
