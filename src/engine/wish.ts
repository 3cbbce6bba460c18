import type { Wanted } from './lease-keeper.ts'

/** What somebody wants a dispatcher to do, and whether it has done so. */
export class Wish {
  readonly #onDrained: (() => void) | undefined
  #wanted: Wanted = 'running'
  #isDrained = false

  /** `onDrained` is called once for each wish to drain, when nothing is left. */
  constructor(onDrained: (() => void) | undefined) {
    this.#onDrained = onDrained
  }

  get isToRun(): boolean {
    return this.#wanted === 'running'
  }

  /** Answers whether it is another wish than before. */
  hear(wanted: Wanted): boolean {
    if (wanted === this.#wanted) return false
    this.#wanted = wanted
    this.#isDrained = false
    return true
  }

  /** The dispatcher has nothing in hand. */
  quiet(): void {
    if (this.#wanted !== 'draining' || this.#isDrained) return
    this.#isDrained = true
    this.#onDrained?.()
  }
}
