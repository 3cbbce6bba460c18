const HORIZON_MS = 25 // claim what will have begun within this time
const GROWTH = 4 // some quick tasks do not prove that the next are
const USUAL = 500 // claimed ahead at most while nobody knows how much there is
const FEW_CLAIMS = 3
const MANY_CLAIMS = 192
const PROOF = 8 // large claims that are filled: there was enough

/**
 * How many tasks a dispatcher claims beyond its free places: those that will have begun within a moment, by the rate at
 * which tasks ended while any were in hand. Time in which it had none does not count: tasks that are over as soon as they
 * come are worth a large claim, however long the database takes.
 *
 * Larger claims are cheaper, as long as there is enough for two steps to take turns: a chain's next task is not ready before
 * this one has ended, and what one step takes beyond the half is missing in the other. So they become large after some that
 * were filled, and not so soon again where that was too much.
 */
export class Ahead {
  readonly #concurrency: number
  readonly #most: number
  #tasks = 0
  /** Claims in a row that were filled, and after how many of them they become large. */
  #filled = 0
  #patience = FEW_CLAIMS
  #endedCount = 0
  #busyMs = 0
  #busySince: number | undefined

  constructor(concurrency: number, most: number) {
    this.#concurrency = concurrency
    this.#most = most
  }

  get tasks(): number {
    const now = performance.now()
    const busyMs = this.#busyMs + (this.#busySince === undefined ? 0 : now - this.#busySince)
    if (busyMs >= HORIZON_MS || this.#endedCount >= this.#concurrency) {
      const foreseen = Math.floor((this.#endedCount / Math.max(busyMs, 0.1)) * HORIZON_MS)
      this.#tasks = Math.min(this.#most, foreseen, Math.max(this.#concurrency, this.#tasks) * GROWTH)
      this.#startOver(now)
    }
    return this.#isLarge ? this.#tasks : Math.min(this.#tasks, USUAL)
  }

  get #isLarge(): boolean {
    return this.#filled >= this.#patience
  }

  /** `isFilled`: there was as much as was asked for. */
  claimed(isFilled: boolean): void {
    if (!isFilled && this.#isLarge) {
      const isProven = this.#filled >= this.#patience + PROOF
      this.#patience = isProven ? FEW_CLAIMS : Math.min(this.#patience * 2, MANY_CLAIMS)
    }
    this.#filled = isFilled ? this.#filled + 1 : 0
  }

  began(): void {
    this.#busySince ??= performance.now()
  }

  /** `isLast`: none is in hand now. */
  ended(isLast: boolean): void {
    this.#endedCount += 1
    if (!isLast || this.#busySince === undefined) return
    this.#busyMs += performance.now() - this.#busySince
    this.#busySince = undefined
  }

  /** The tasks turned out longer than foreseen. */
  slowed(): void {
    this.#tasks = 0
    this.#startOver(performance.now())
  }

  #startOver(now: number): void {
    this.#endedCount = 0
    this.#busyMs = 0
    if (this.#busySince !== undefined) this.#busySince = now
  }
}
