import type { Context, Server } from './context.ts'
import { followEvents } from './event-stream.ts'

const MOST_TASKS = 50 // that one subscription may name
const SHORTEST_MS = 200
const LONGEST_MS = 2_000

export type LookAgain = Disposable & {
  /**
   * Waits until it is worth looking again: something has happened to the tasks, or some time has passed. Without events
   * the time grows with the time that has passed already, so that waiting for hours is cheap.
   */
  wait(signal: AbortSignal): Promise<void>
}

/** Says when to look at tasks again. Events are hints: where they cannot be had, looking now and then finds the same. */
export function createLookAgain(context: Context, server: Server, refs: readonly string[]): LookAgain {
  const begun = Date.now()
  const ended = new AbortController()
  let isDue = false
  let wake = () => {}
  const hint = () => {
    isDue = true
    wake()
  }
  if (refs.length <= MOST_TASKS) {
    const quiet = { ...context.output, note: () => {} }
    const signal = AbortSignal.any([context.signal, ended.signal])
    // What happened before the stream was open is seen by looking once more when it is.
    const hearer = { onOpen: hint, onEvent: hint, onReset: hint }
    void followEvents({ signal, output: quiet }, server, { task: refs.join(',') }, hearer).catch(() => {})
  }
  return {
    async wait(signal) {
      const ms = Math.min(Math.max((Date.now() - begun) / 10, SHORTEST_MS), LONGEST_MS)
      if (!isDue) await pause(ms, signal, (woken) => (wake = woken))
      isDue = false
      signal.throwIfAborted()
    },
    [Symbol.dispose]: () => ended.abort(),
  }
}

function pause(ms: number, signal: AbortSignal, onWake: (wake: () => void) => void): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', end)
      resolve()
    }
    const timer = setTimeout(end, ms)
    signal.addEventListener('abort', end)
    onWake(end)
  })
}
