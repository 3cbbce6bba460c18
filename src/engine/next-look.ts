import { LazyTimer } from '../db/index.ts'

/**
 * When a dispatcher that found nothing looks again. A time that comes while it cannot look is not forgotten: the look
 * stays due until it is made, since a dispatcher that sleeps without being listed as a sleeper is woken by nobody.
 */
export class NextLook {
  readonly #timer: LazyTimer
  #isDue = false

  constructor(onDue: () => void) {
    this.#timer = new LazyTimer(() => {
      this.#isDue = true
      onDue()
    })
  }

  get isDue(): boolean {
    return this.#isDue
  }

  /** Makes the look due after that time, instead of when it would have been. */
  planIn(ms: number): void {
    this.#isDue = false
    this.#timer.set(ms)
  }

  /** A look is being made: what was planned is done with it. */
  made(): void {
    this.#isDue = false
    this.#timer.callOff()
  }

  /** None will be made any more. */
  close(): void {
    this.#isDue = false
    this.#timer.close()
  }
}
