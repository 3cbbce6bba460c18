/**
 * When a dispatcher that found nothing looks again. A time that comes while it cannot look is not forgotten: the look
 * stays due until it is made, since a dispatcher that sleeps without being listed as a sleeper is woken by nobody.
 */
export class NextLook {
  readonly #onDue: () => void
  #timer: NodeJS.Timeout | undefined
  #isDue = false

  constructor(onDue: () => void) {
    this.#onDue = onDue
  }

  get isDue(): boolean {
    return this.#isDue
  }

  /** Makes the look due after that time, instead of when it would have been. */
  planIn(ms: number): void {
    this.made()
    this.#timer = setTimeout(() => {
      this.#isDue = true
      this.#onDue()
    }, ms)
  }

  /** A look is being made: what was planned is done with it. */
  made(): void {
    clearTimeout(this.#timer)
    this.#isDue = false
  }
}
