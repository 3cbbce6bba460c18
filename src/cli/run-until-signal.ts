import type { Context } from './context.ts'

type Started = { readonly failed: Promise<Error>; readonly drained?: Promise<'drained'>; stop(): Promise<void> }

/**
 * Keeps what `start` starts running until a signal comes or somebody has drained it, then stops it. Throws when it cannot start or can no longer
 * work. A second signal ends the process at once: whatever still drains is cut off.
 */
export async function runUntilSignal<T extends Started>(
  { signal }: Context,
  start: (signal: AbortSignal) => Promise<T>,
  onStart: (running: T) => void,
): Promise<void> {
  const isOver = new Promise<'signal'>((resolve) => signal.addEventListener('abort', () => resolve('signal')))
  try {
    const running = await start(signal)
    onStart(running)
    const end = await Promise.race([
      isOver,
      running.failed,
      ...(running.drained === undefined ? [] : [running.drained]),
    ])
    await running.stop()
    if (end instanceof Error) throw end
  } catch (error) {
    // Stopped while it started: that is what was asked for.
    if (!signal.aborted) throw error
  }
}
