import type { Place, Run } from './run.ts'

const SUSPECT_DEATHS = 2 // one death takes everything along that was claimed there; two begin to tell

/** Tasks that were claimed and not begun yet, in their order. */
export class Unbegun {
  readonly #queue: Run[] = []
  /** Tasks that may have killed dispatchers: one runs at a time, so that the next death names it. */
  readonly #suspects: Run[] = []
  readonly #fewDeaths: number
  #suspect: Run | undefined

  constructor(maxDeaths: number) {
    this.#fewDeaths = Math.max(1, Math.min(SUSPECT_DEATHS, maxDeaths - 1))
  }

  get size(): number {
    return this.#queue.length + this.#suspects.length
  }

  push(run: Run): void {
    run.waitsSince = performance.now()
    if (run.deaths < this.#fewDeaths) this.#queue.push(run)
    else this.#suspects.push(run)
  }

  /** The next one to begin. */
  next(): Run | undefined {
    if (this.#suspect !== undefined || this.#suspects.length === 0) return this.#queue.shift()
    this.#suspect = this.#suspects.shift()
    return this.#suspect
  }

  /** One that `next` answered is over. */
  ended(run: Run): void {
    if (this.#suspect === run) this.#suspect = undefined
  }

  has(id: string, epoch: number): boolean {
    const isIt = (run: Run) => run.id === id && run.epoch === epoch
    return this.#queue.some(isIt) || this.#suspects.some(isIt)
  }

  /** Takes one out; an empty list when it is not here. */
  take(id: string): Run[] {
    const line = this.#suspects.some((run) => run.id === id) ? this.#suspects : this.#queue
    const at = line.findIndex((run) => run.id === id)
    return at < 0 ? [] : line.splice(at, 1)
  }

  /** Where they stood in the line, and would again if they were given back. */
  places(): Place[] {
    return [...this.#queue, ...this.#suspects].flatMap(({ place }) => place ?? [])
  }

  takeAll(): Run[] {
    return [...this.#queue.splice(0), ...this.#suspects.splice(0)]
  }

  /** Takes all when the oldest has waited for that long. The line may never be empty, and yet nobody in it wait for long. */
  takeStale(olderThanMs: number): Run[] {
    const oldest = Math.min(this.#queue[0]?.waitsSince ?? Infinity, this.#suspects[0]?.waitsSince ?? Infinity)
    return performance.now() - oldest >= olderThanMs ? this.takeAll() : []
  }
}
