/** Of the ready tasks, those behind `from` up to `to`, by the number under which they became ready. */
export type Slice = { readonly from: number; readonly to: number }

const LONG_MS = 20
const SHORT_MS = 5
const NARROWEST = 10_000 // as many entries are walked over in a few milliseconds

/**
 * Goes through what lies before the marks again and again. Usually all of it at once. Where that has become slow, since
 * somebody's long snapshot keeps vacuum from what is gone, in slices that hold up no step for long.
 */
export class Sweep {
  /** Infinite: all at once. */
  #width = Number.POSITIVE_INFINITY
  /** There may be a stretch of nothing before one that is full: it must not be met with a slice that grew too wide. */
  #widest = Number.POSITIVE_INFINITY
  #from = 0
  #wasShort = true

  get isSliced(): boolean {
    return this.#width < Number.POSITIVE_INFINITY
  }

  /** `reach`: the farthest mark. `gone`: as many are to be walked over until there. */
  begin(reach: number, gone: number): void {
    this.#slice((reach / Math.max(gone, 1)) * NARROWEST, reach)
  }

  /** The next slice; undefined: all. */
  next(reach: number): Slice | undefined {
    if (this.#from >= reach) this.#startOver(reach)
    return this.isSliced ? { from: this.#from, to: this.#from + this.#width } : undefined
  }

  looked(slice: Slice | undefined, ms: number, reach: number): void {
    if (slice === undefined) {
      if (ms > LONG_MS) this.#slice((reach / ms) * SHORT_MS, reach)
      return
    }
    this.#from = slice.to
    if (ms > SHORT_MS) this.#wasShort = false
    if (ms > LONG_MS) this.#width = Math.max(NARROWEST, Math.floor(this.#width / 2))
    if (ms < SHORT_MS) this.#width = Math.min(this.#width * 2, this.#widest)
  }

  #slice(width: number, reach: number): void {
    this.#from = 0
    this.#width = Math.max(NARROWEST, Math.floor(width))
    this.#widest = this.#width * 4
    if (this.#width >= reach) this.#width = Number.POSITIVE_INFINITY
  }

  #startOver(reach: number): void {
    this.#from = 0
    if (this.#wasShort) this.#widest *= 4
    if (this.#wasShort && this.#width * 4 >= reach) this.#width = Number.POSITIVE_INFINITY
    this.#wasShort = true
  }
}
