import { Delivery } from './delivery.ts'
import type { Ending, Running, Sink } from './runner.ts'

const LONGEST_MS = 2 ** 31 - 1 // of a timer; longer ones would fire at once

export const toLost = (error: Error): Ending => ({ type: 'lost', reason: error.message })

/** A command that did not even come to be started. */
export const neverRan = (marker: string, reason: string): Running => ({
  marker,
  ended: Promise.resolve({ type: 'spawn_failed', reason }),
  stop: async () => {},
})

export type Asked = Extract<Ending, { type: 'timed_out' | 'stopped' }>

/** The ending of a command that was asked to stop, given how it would have ended otherwise. */
export function endingAsked(asked: Asked | undefined, ending: Ending): Ending {
  if (asked === undefined) return ending
  return ending.type === 'signaled' ? { ...asked, signal: ending.signal } : asked
}

/** What every running command has: its output on the way to the sink, why it was asked to stop, timers, one ending. */
export class Life {
  readonly delivery: Delivery
  readonly ended: Promise<Ending>
  readonly gone: Promise<void>
  /** Why it was first asked to stop. */
  asked: Asked | undefined
  readonly #timers = new Set<NodeJS.Timeout>()
  #sinkError: { readonly error: unknown } | undefined
  #isGone = false
  #isOver = false
  #tell!: {
    readonly gone: () => void
    readonly ended: (ending: Ending) => void
    readonly failed: (error: unknown) => void
  }

  constructor(sink: Sink, onSinkError: () => void) {
    this.delivery = new Delivery(sink, (error) => {
      this.#sinkError = { error }
      onSinkError()
    })
    let gone = () => {}
    this.gone = new Promise((resolve) => {
      gone = resolve
    })
    this.ended = new Promise((ended, failed) => {
      this.#tell = { gone, ended, failed }
    })
    this.ended.catch(() => {}) // heard by whoever waits for it
  }

  get isGone(): boolean {
    return this.#isGone
  }

  /** Acts after so long unless the command is gone by then. */
  after(ms: number, act: () => void): void {
    if (this.#isGone) return
    const timer = setTimeout(
      () => {
        this.#timers.delete(timer)
        if (ms > LONGEST_MS) this.after(ms - LONGEST_MS, act)
        else act()
      },
      Math.min(ms, LONGEST_MS),
    )
    this.#timers.add(timer)
  }

  /** Nothing of the command runs any more. */
  vanish(): void {
    this.#isGone = true
    for (const timer of this.#timers) clearTimeout(timer)
    this.#tell.gone()
  }

  /** Nothing runs, and its output is on its way: whoever waits for the ending waits for the sink to take that, too. */
  finish(ending: Ending): void {
    if (this.#isOver) return
    this.#isOver = true
    this.vanish()
    void this.delivery.empty().then(() => {
      if (this.#sinkError === undefined) this.#tell.ended(ending)
      else this.#tell.failed(this.#sinkError.error)
    })
  }
}
