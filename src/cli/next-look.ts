import { setTimeout as sleep } from 'node:timers/promises'

const SHORTEST_MS = 200
const LONGEST_MS = 2_000

/** Waits before the next look, the longer the more time has passed: what ends soon is seen soon, and waiting for hours is cheap. */
export async function nextLook(signal: AbortSignal, passedMs: number): Promise<void> {
  const ms = Math.min(Math.max(passedMs / 10, SHORTEST_MS), LONGEST_MS)
  await sleep(ms, undefined, { signal }).catch(() => signal.throwIfAborted())
}
