/**
 * Calls `onDue` once a time has come. To set it anew, or to call it off, as is done thousands of times a second, costs next
 * to nothing: the system's timer stays, and is looked at when it goes off.
 */
export class LazyTimer {
  readonly #onDue: () => void
  #dueAt: number | undefined
  #timer: NodeJS.Timeout | undefined
  #goesOffAt = 0

  constructor(onDue: () => void) {
    this.#onDue = onDue
  }

  set(ms: number): void {
    this.#dueAt = performance.now() + ms
    if (this.#timer !== undefined && this.#goesOffAt <= this.#dueAt) return
    clearTimeout(this.#timer)
    this.#wait(ms)
  }

  callOff(): void {
    this.#dueAt = undefined
  }

  /** Leaves nothing behind that would keep a process from ending. */
  close(): void {
    this.callOff()
    clearTimeout(this.#timer)
    this.#timer = undefined
  }

  #wait(ms: number): void {
    this.#goesOffAt = performance.now() + ms
    this.#timer = setTimeout(() => this.#look(), ms)
  }

  #look(): void {
    this.#timer = undefined
    if (this.#dueAt === undefined) return
    const left = this.#dueAt - performance.now()
    if (left > 0) {
      // A timer may go off a fraction of a millisecond early.
      this.#wait(Math.ceil(left))
      return
    }
    this.#dueAt = undefined
    this.#onDue()
  }
}
