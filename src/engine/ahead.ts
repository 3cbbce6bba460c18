const HORIZON_MS = 25 // claim what will have begun within this time
const GROWTH = 4 // some quick tasks do not prove that the next are

/**
 * How many tasks a dispatcher claims beyond its free places: those that will have begun within a moment, by the rate at
 * which tasks ended while any were in hand. Time in which it had none does not count: tasks that are over as soon as they
 * come are worth a large claim, however long the database takes.
 */
export class Ahead {
  readonly #concurrency: number
  readonly #most: number
  #tasks = 0
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
    if (busyMs < HORIZON_MS && this.#endedCount < this.#concurrency) return this.#tasks
    const foreseen = Math.floor((this.#endedCount / Math.max(busyMs, 0.1)) * HORIZON_MS)
    this.#tasks = Math.min(this.#most, foreseen, Math.max(this.#concurrency, this.#tasks) * GROWTH)
    this.#startOver(now)
    return this.#tasks
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
