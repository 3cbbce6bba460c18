// Work that is asked for often and done seldom.

export type Later = (work: () => void, ms: number) => () => void

const afterMs: Later = (work, ms) => {
  const timer = setTimeout(work, ms)
  return () => clearTimeout(timer)
}

/**
 * Does its work at once when it is asked to, and then at most once in so many milliseconds, never twice at a time. What is
 * asked for meanwhile is done once, afterwards: the last who asks is never forgotten.
 */
export class Pace {
  readonly #work: () => Promise<unknown>
  readonly #ms: number
  readonly #later: Later
  #cancel: (() => void) | undefined
  #isUnderWay = false
  #isAgain = false

  constructor(work: () => Promise<unknown>, ms: number, later: Later = afterMs) {
    this.#work = work
    this.#ms = ms
    this.#later = later
  }

  /** Settles when the work is done that was begun by this; at once when it has to wait. */
  async ask(): Promise<void> {
    if (this.#isUnderWay || this.#cancel !== undefined) {
      this.#isAgain = true
      return
    }
    this.#isAgain = false
    this.#cancel = this.#later(() => {
      this.#cancel = undefined
      this.#goOn()
    }, this.#ms)
    this.#isUnderWay = true
    try {
      await this.#work()
    } finally {
      this.#isUnderWay = false
      this.#goOn()
    }
  }

  /** Forgets what was asked for and not begun. */
  close(): void {
    this.#cancel?.()
    this.#cancel = undefined
    this.#isAgain = false
  }

  #goOn(): void {
    if (!this.#isAgain || this.#isUnderWay || this.#cancel !== undefined) return
    // Nobody waits for this one: whoever does the work keeps what it could not do.
    this.ask().catch(() => {})
  }
}
