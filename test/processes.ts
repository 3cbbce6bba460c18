import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'

/** Dead processes that nobody waits for keep their entry, in state Z, where there is no init. */
export function isAlive(pid: number): boolean {
  try {
    return !/^State:\s*Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
  } catch {
    return false
  }
}

/** How long a test waits for what must come. It is long, for machines that do ten other things; only a failure takes it. */
export const PATIENCE_MS = 90_000

/** Looks again and again until there is something to see; for what other processes do, which gives no signal here. */
export async function waitFor<T>(look: () => Promise<T | undefined> | T | undefined): Promise<T> {
  for (const deadline = Date.now() + PATIENCE_MS; Date.now() < deadline; await sleep(25)) {
    const found = await look()
    if (found !== undefined) return found
  }
  throw new Error(`what was waited for did not come: ${String(look)}`)
}
