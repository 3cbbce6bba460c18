import { setTimeout as sleep } from 'node:timers/promises'
import type { Context } from './context.ts'

const FIRST_DELAY_MS = 250
const LONGEST_DELAY_MS = 10_000
const PATIENCE_MS = 5 * 60_000

/** A stream came to an end where it should go on. */
export class StreamEnded extends Error {
  readonly code = 'stream_ended'
}

/**
 * Reads a stream, and opens it again when the connection breaks. A refusal of the server is thrown, as is a server that
 * was never reached or has been away for long. `read` ends when the stream has come to its end.
 */
export async function openAgain(
  { signal, output }: Pick<Context, 'signal' | 'output'>,
  read: (signal: AbortSignal, onOpen: () => void) => Promise<void>,
): Promise<void> {
  let delayMs = FIRST_DELAY_MS
  let hasBeenOpen = false
  let awaySince: number | undefined
  for (;;) {
    const onOpen = () => {
      if (awaySince !== undefined) output.note('the server is back')
      hasBeenOpen = true
      awaySince = undefined
      delayMs = FIRST_DELAY_MS
    }
    try {
      return await read(signal, onOpen)
    } catch (error) {
      signal.throwIfAborted()
      if (!isBroken(error) || !hasBeenOpen) throw error
      if (awaySince === undefined) output.note('the connection broke; trying again')
      awaySince ??= Date.now()
      if (Date.now() - awaySince > PATIENCE_MS) throw error
    }
    await sleep(delayMs, undefined, { signal }).catch(() => signal.throwIfAborted())
    delayMs = Math.min(delayMs * 2, LONGEST_DELAY_MS)
  }
}

/** What waiting may mend: nobody answers, the stream broke off, or the server starts or stops. */
function isBroken(error: unknown): boolean {
  const { code, status } = error as { code?: string; status?: number }
  if (status !== undefined) return status === 503 || status === 502 || status === 504
  return code === 'server_unreachable' || code === 'stream_ended' || error instanceof TypeError
}
