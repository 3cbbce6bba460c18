import { setTimeout as sleep } from 'node:timers/promises'
import { isConnectionLost, isRetryable } from '../db/index.ts'

const FIRST_DELAY_MS = 50
const LONGEST_DELAY_MS = 2_000

/**
 * Does it, again and again while the database is away: the attempt's lease says when that is in vain. Answers undefined when
 * the signal was aborted first.
 */
export async function patiently<T>(signal: AbortSignal | undefined, body: () => Promise<T>): Promise<T | undefined> {
  for (let delayMs = FIRST_DELAY_MS; !signal?.aborted; delayMs = Math.min(delayMs * 2, LONGEST_DELAY_MS)) {
    try {
      return await body()
    } catch (error) {
      if (!isConnectionLost(error) && !isRetryable(error)) throw error
      await sleep(delayMs, undefined, signal ? { signal } : {}).catch(() => {})
    }
  }
  return undefined
}
