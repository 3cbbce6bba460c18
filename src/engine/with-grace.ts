const LAST_MOMENT_MS = 1000

/** Waits for `quiet`. After `graceMs` calls `onLate` once, and then waits for a last moment only. */
export async function withGrace(quiet: Promise<void>, graceMs: number, onLate: () => void): Promise<void> {
  const timers = [setTimeout(onLate, graceMs)]
  const late = new Promise<void>((resolve) => timers.push(setTimeout(resolve, graceMs + LAST_MOMENT_MS)))
  await Promise.race([quiet, late])
  for (const timer of timers) clearTimeout(timer)
}
