import { setTimeout as sleep } from 'node:timers/promises'
import { type Db, isConnectionLost, isRetryable } from '../db/index.ts'
import type { FollowOptions, OutputPiece } from './output.ts'
import { readOutput } from './read.ts'

const POLL_MS = 200

/**
 * Answers an attempt's output piece by piece, as it is stored, until the attempt has ended and all of it was answered,
 * or the signal is aborted. Reads only when asked for the next piece. Outlives a restart of the database.
 */
export async function* followOutput(db: Db, options: FollowOptions): AsyncGenerator<OutputPiece, void, undefined> {
  const { signal, stream = 'mixed', pollMs = POLL_MS } = options
  const waiter = createWaiter(options, pollMs)
  let start = options.start ?? 0
  try {
    while (!signal?.aborted) {
      waiter.reset()
      // Asked before the look: whatever is stored when it has ended is then seen.
      const hasEnded = await patiently(() => options.hasEnded(), options)
      const piece = await patiently(
        () =>
          readOutput(db, {
            task: options.task,
            attempt: options.attempt,
            stream,
            start,
            ...(options.limit === undefined ? {} : { limit: options.limit }),
          }),
        options,
      )
      if (piece === undefined) return
      start = piece.next
      if (piece.bytes.length > 0) yield piece
      if (!piece.isEnd) continue
      if (hasEnded) return
      await waiter.wait()
    }
  } finally {
    waiter.close()
  }
}

/** Undefined only when the signal is aborted. */
async function patiently<T>(ask: () => Promise<T> | T, options: FollowOptions): Promise<T | undefined> {
  while (!options.signal?.aborted) {
    try {
      return await ask()
    } catch (error) {
      if (!isConnectionLost(error) && !isRetryable(error)) throw error
      await sleep(options.pollMs ?? POLL_MS, undefined, options.signal ? { signal: options.signal } : {}).catch(
        () => {},
      )
    }
  }
  return undefined
}

/** Waits for a nudge, the poll or the abort, whichever is first; a nudge since `reset` counts. */
function createWaiter({ onNudge, signal }: FollowOptions, pollMs: number) {
  let isNudged = false
  let wake = () => {}
  const nudge = () => {
    isNudged = true
    wake()
  }
  const unregister = onNudge?.(nudge)
  signal?.addEventListener('abort', nudge)
  return {
    reset() {
      isNudged = false
    },
    async wait() {
      if (isNudged) return
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, pollMs)
        wake = () => {
          clearTimeout(timer)
          resolve()
        }
      })
    },
    close() {
      unregister?.()
      signal?.removeEventListener('abort', nudge)
    },
  }
}
