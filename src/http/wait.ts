// Long polls. A caller says with `Prefer: wait=N` how many seconds it has time; it is answered as soon as there is what
// it waits for, and otherwise with what there is when the time is over.
import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyReply, FastifyRequest } from 'fastify'

const MOST_SECONDS = 60
const LOOK_EVERY_MS = 1_000

/** A hint that looking again may pay; resolves when there is one, or when the signal aborts. */
export type Hint = (signal: AbortSignal) => Promise<unknown>

export type WaitOptions = {
  /** Wakes the wait. Without it, and when a hint is lost, it looks every second. */
  readonly hint?: Hint
  /** How long to wait, for routes that wait without being asked to. Default: what `Prefer: wait=N` says, or not at all. */
  readonly waitMs?: number
}

/** How many milliseconds the caller has time, at most a minute; 0 when it did not say. */
export function patienceOf(request: FastifyRequest): number {
  const [, seconds] =
    /(?:^|[,;]\s*)wait\s*=\s*"?(\d{1,9})"?\s*(?:[,;]|$)/i.exec(String(request.headers['prefer'] ?? '')) ?? []
  return Math.min(Number(seconds ?? 0), MOST_SECONDS) * 1000
}

/** Calls back when the answer is over or the caller has gone, also when that was so before anybody asked. */
export function onClose({ raw }: FastifyReply, close: () => void): void {
  if (raw.closed) close()
  else raw.once('close', close)
}

/** Aborts when the caller has gone or the server is stopping: nobody waits for the rest of the answer. */
export function signalOf(request: FastifyRequest, reply: FastifyReply): AbortSignal {
  const controller = new AbortController()
  const forget = request.server.onDrain(() => controller.abort(new Error('the server is stopping')))
  onClose(reply, () => {
    forget()
    controller.abort(new Error('the caller has gone'))
  })
  return controller.signal
}

/**
 * Looks until `isEnough` says so, the time is over, the caller has gone or the server stops; answers what was
 * seen last.
 */
export async function waitUntil<T>(
  look: () => Promise<T>,
  isEnough: (seen: T) => boolean,
  { waitMs, signal, hint }: { waitMs: number; signal: AbortSignal; hint?: Hint | undefined },
): Promise<T> {
  const until = performance.now() + waitMs
  for (;;) {
    // Listening begins before looking: what happens in between is heard.
    const round = new AbortController()
    const stop = () => round.abort()
    signal.addEventListener('abort', stop, { once: true })
    try {
      const hinted = hint?.(round.signal).catch(() => new Promise(() => {}))
      const seen = await look()
      const leftMs = until - performance.now()
      if (leftMs <= 0 || signal.aborted || isEnough(seen)) return seen
      const slept = sleep(Math.min(leftMs, LOOK_EVERY_MS), undefined, { signal: round.signal }).catch(() => {})
      await Promise.race(hinted === undefined ? [slept] : [slept, hinted])
    } finally {
      signal.removeEventListener('abort', stop)
      round.abort()
    }
  }
}
