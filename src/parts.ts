import { setTimeout as sleep } from 'node:timers/promises'

const LEAST_MS = 5_000 // for each part, also when those before it have taken all the time

/** The parts of a running program, started one after another and stopped in the reverse order. */
export class Parts {
  readonly #stops: { name: string; stop(): Promise<void> }[] = []
  readonly #onError: (name: string, error: unknown) => void
  readonly #limitMs: number

  /** After so long what does not stop is left behind: a database that has fallen silent must not keep a program alive. */
  constructor(onError: (name: string, error: unknown) => void, limitMs: number) {
    this.#onError = onError
    this.#limitMs = limitMs
  }

  /** Takes a part that has started; `stop` is called when its turn comes. */
  add(name: string, stop: () => Promise<void>): void {
    this.#stops.push({ name, stop })
  }

  /** Stops all parts, the last one first. One that throws, or takes too long, is reported and keeps no other running. */
  async stop(): Promise<void> {
    const until = performance.now() + this.#limitMs
    for (let part = this.#stops.pop(); part !== undefined; part = this.#stops.pop()) {
      const { name } = part
      await inTime(part.stop(), Math.max(LEAST_MS, until - performance.now())).catch((error: unknown) =>
        this.#onError(name, error),
      )
    }
  }
}

async function inTime(stopping: Promise<void>, ms: number): Promise<void> {
  const timer = new AbortController()
  const late = sleep(ms, undefined, { signal: timer.signal }).then(() => {
    throw new Error(`it did not stop within ${Math.round(ms / 1000)} s and is left behind`)
  })
  late.catch(() => {})
  stopping.catch(() => {}) // of one that was left behind nobody hears any more
  try {
    await Promise.race([stopping, late])
  } finally {
    timer.abort()
  }
}
