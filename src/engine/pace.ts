// How much a dispatcher claims, from where, and how often it looks.
type Claimed = { readonly lane: number; readonly priority: number; readonly readyOrder: string }
export type Scan = {
  readonly priorities: number[]
  readonly orders: string[]
  readonly isFull: boolean
  readonly begunAt: number
}

const LOWEST_PRIORITY = -(2 ** 31)
const HORIZON_MS = 25 // claim what will have begun within this time at the recent rate
const FULL_SCAN_EVERY_MS = 50
const FULL_SCAN_SHARE = 20 // at most one part in 20 of the time goes into looking from the start
const POLL_MS = [5, 20, 80, 320, 1000]
const LONGEST_POLL_UNHEARD_MS = 250 // without notifications polling is all there is

export class Pace {
  readonly #concurrency: number
  readonly #mostAhead: number
  readonly #marks = new Map<number, { priority: number; order: string }>()
  #ahead = 0
  #endedCount = 0
  #measuredAt = performance.now()
  #isSaturated = false
  #fullScanAt = 0
  #fullScanMs = 0
  #markedScanMs = 0
  #polls = 0

  constructor(concurrency: number, mostAhead: number) {
    this.#concurrency = concurrency
    this.#mostAhead = mostAhead
  }

  /** Tasks to claim beyond those in hand. */
  room(inHand: number): number {
    return this.#concurrency + this.#ahead - inHand
  }

  /** Tasks worth a second step while one is under way. */
  get batch(): number {
    return Math.max(1, Math.ceil((this.#concurrency + this.#ahead) / 2))
  }

  /** The last claim was filled: there is more than this dispatcher can take. */
  get isSaturated(): boolean {
    return this.#isSaturated
  }

  ended(): void {
    this.#endedCount += 1
  }

  /** The tasks turned out longer than foreseen. */
  slowed(): void {
    this.#ahead = 0
    this.#endedCount = 0
    this.#measuredAt = performance.now()
  }

  forgetMarks(): void {
    this.#marks.clear()
  }

  /**
   * From where to look in each lane. Usually behind the last task claimed there; every so often from the start,
   * because what commits late or is more urgent lies before that mark.
   */
  scan(lanes: readonly number[], mustBeFull: boolean): Scan {
    const now = performance.now()
    const pause = Math.max(FULL_SCAN_EVERY_MS, this.#fullScanMs * FULL_SCAN_SHARE)
    const isFull = mustBeFull || now - this.#fullScanAt >= pause
    const marks = lanes.map((lane) => (isFull ? undefined : this.#marks.get(lane)))
    return {
      priorities: marks.map((mark) => mark?.priority ?? LOWEST_PRIORITY),
      orders: marks.map((mark) => mark?.order ?? '0'),
      isFull,
      begunAt: now,
    }
  }

  stepped(claimed: readonly Claimed[], room: number, scan: Scan): void {
    const now = performance.now()
    const ms = now - scan.begunAt
    if (scan.isFull) {
      this.#fullScanAt = now
      this.#fullScanMs = Math.max(0, ms - 2 * this.#markedScanMs)
    } else {
      this.#markedScanMs = this.#markedScanMs * 0.9 + ms * 0.1
    }
    for (const row of claimed) {
      this.#marks.set(row.lane, { priority: row.priority, order: row.readyOrder })
    }
    this.#isSaturated = room > 0 && claimed.length >= room
    if (claimed.length > 0) this.#polls = 0
    this.#measure(now)
  }

  #measure(now: number): void {
    const elapsed = now - this.#measuredAt
    if (elapsed < HORIZON_MS && this.#endedCount < this.#concurrency) return
    const foreseen = Math.floor((this.#endedCount / Math.max(elapsed, 0.1)) * HORIZON_MS)
    // Grow by doubling: one quick task does not prove that the next are.
    this.#ahead = Math.min(this.#mostAhead, foreseen, Math.max(this.#concurrency, this.#ahead * 2))
    this.#endedCount = 0
    this.#measuredAt = now
  }

  restartPolling(): void {
    this.#polls = 0
  }

  /** Short after going idle, when a notification is likeliest to have been missed; then slowly. */
  nextPollMs(isHeard: boolean): number {
    const ms = POLL_MS[Math.min(this.#polls, POLL_MS.length - 1)] as number
    this.#polls += 1
    return isHeard ? ms : Math.min(ms, LONGEST_POLL_UNHEARD_MS)
  }
}
