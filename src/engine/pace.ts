// How much a dispatcher claims, from where, and how often it looks.
type Mark = { readonly priority: number; readonly order: string }
type Claimed = { readonly lane: number; readonly priority: number; readonly readyOrder: string }
export type Scan = Ranges & {
  /** It looks from the very start, over everything that is gone and not vacuumed. */
  readonly isFull: boolean
  /** Whatever it does not find was not there, but for what commits late. */
  readonly isComplete: boolean
  readonly begunAt: number
}

/** Each begins behind a task and ends with a priority; null: without end. A lane may have several. */
type Ranges = {
  readonly lanes: readonly number[]
  readonly fromPriorities: readonly number[]
  readonly fromOrders: readonly string[]
  readonly toPriorities: readonly number[] | null
}

const LOWEST_PRIORITY = -(2 ** 31)
const HIGHEST_PRIORITY = 2 ** 31 - 1
const MOST_PRIORITIES = 16 // of which it is known in each lane how far they are claimed
const HORIZON_MS = 25 // claim what will have begun within this time at the recent rate
const FULL_SCAN_EVERY_MS = 50
const FULL_SCAN_SHARE = 20 // at most one part in 20 of the time goes into looking from the start
const POLL_MS = [5, 20, 80, 320, 1000]
const LONGEST_POLL_UNHEARD_MS = 250 // without notifications polling is all there is

export class Pace {
  readonly #concurrency: number
  readonly #mostAhead: number
  /** The last task claimed in each lane. */
  readonly #marks = new Map<number, Mark>()
  /** In each lane, the last task claimed of each priority. */
  readonly #reached = new Map<number, Map<number, string>>()
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
    this.#reached.clear()
  }

  /**
   * From where to look in each lane. Usually behind the last task claimed there; every so often from the start,
   * because what commits late or is more urgent lies before that mark. Where looking from the start has become slow,
   * which is what somebody's long snapshot does, it is not done more often than it may take of the time: a complete look
   * then begins, for each priority, behind the last task claimed of it.
   */
  scan(lanes: readonly number[], mustBeComplete: boolean): Scan {
    const begunAt = performance.now()
    const since = begunAt - this.#fullScanAt
    const isAffordable = since >= this.#fullScanMs * FULL_SCAN_SHARE
    const isFull = isAffordable && (mustBeComplete || since >= FULL_SCAN_EVERY_MS)
    const isComplete = isFull || mustBeComplete
    const ranges = !isFull && isComplete ? this.#rangesByPriority(lanes) : this.#rangesFrom(lanes, !isFull)
    return { ...ranges, isFull, isComplete, begunAt }
  }

  #rangesFrom(lanes: readonly number[], isBehindMark: boolean): Ranges {
    const marks = lanes.map((lane) => (isBehindMark ? this.#marks.get(lane) : undefined))
    return {
      lanes,
      fromPriorities: marks.map((mark) => mark?.priority ?? LOWEST_PRIORITY),
      fromOrders: marks.map((mark) => mark?.order ?? '0'),
      toPriorities: null,
    }
  }

  #rangesByPriority(lanes: readonly number[]): Ranges {
    const ranges = lanes.flatMap((lane) => {
      const reached = [...(this.#reached.get(lane) ?? [])].sort(([a], [b]) => a - b)
      const starts: (readonly [number, string])[] = [[LOWEST_PRIORITY, '0'], ...reached]
      return starts.map(([priority, order], i) => ({ lane, priority, order, to: (starts[i + 1]?.[0] ?? Infinity) - 1 }))
    })
    return {
      lanes: ranges.map(({ lane }) => lane),
      fromPriorities: ranges.map(({ priority }) => priority),
      fromOrders: ranges.map(({ order }) => order),
      toPriorities: ranges.map(({ to }) => Math.max(LOWEST_PRIORITY, Math.min(to, HIGHEST_PRIORITY))),
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
    claimed.forEach(({ lane, priority, readyOrder: order }, i) => {
      const next = claimed[i + 1]
      if (next?.lane === lane && next.priority === priority) return
      this.#marks.set(lane, { priority, order })
      this.#reach(lane, { priority, order })
    })
    this.#isSaturated = room > 0 && claimed.length >= room
    if (claimed.length > 0) this.#polls = 0
    this.#measure(now)
  }

  #reach(lane: number, { priority, order }: Mark): void {
    const reached = this.#reached.get(lane) ?? new Map<number, string>()
    this.#reached.set(lane, reached)
    // A task that committed late lies behind what was reached before.
    if (BigInt(order) > BigInt(reached.get(priority) ?? 0)) reached.set(priority, order)
    // Without its mark, a priority is looked at from its start: slower, and as complete.
    const [oldest] = reached.size > MOST_PRIORITIES ? reached.keys() : []
    if (oldest !== undefined) reached.delete(oldest)
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
