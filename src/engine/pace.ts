// How much a dispatcher claims, from where, and how often it looks.
import { Ahead } from './ahead.ts'
import type { Place } from './run.ts'
import { type Slice, Sweep } from './sweep.ts'

type Mark = { readonly priority: number; readonly order: string }
export type Scan = Ranges & {
  /** It looks from the very start, over everything that is gone and not vacuumed, or over this slice of it. */
  readonly isBack: boolean
  readonly slice: Slice | undefined
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
  /** Besides, of what lies before the marks, as `step` takes them. */
  readonly slices?: {
    readonly slice_lanes: readonly number[]
    readonly slice_priority: readonly number[]
    readonly slice_from: string
    readonly slice_to: readonly string[]
  }
}

/** What the database knows of how far others have claimed. */
export type Beginning = {
  readonly gone: string
  readonly marks: readonly (readonly [lane: number, priority: number, order: string])[] | null
}

const LOWEST_PRIORITY = -(2 ** 31)
const HIGHEST_PRIORITY = 2 ** 31 - 1
const MOST_PRIORITIES = 16 // of which it is known in each lane how far they are claimed
const LOOK_BACK_EVERY_MS = 50
const LOOK_BACK_SHARE = 20 // at most one part in 20 of the time goes into looking back
const POLL_MS = [5, 20, 80, 320, 1000]
const LONGEST_POLL_UNHEARD_MS = 250 // without notifications polling is all there is

export class Pace {
  readonly #concurrency: number
  readonly #isFair: boolean
  /** The last task claimed in each lane. */
  readonly #marks = new Map<number, Mark>()
  /** In each lane, the last task claimed of each priority. */
  readonly #reached = new Map<number, Map<number, string>>()
  readonly #ahead: Ahead
  #isSaturated = false
  readonly #sweep = new Sweep()
  #lookedBackAt = 0
  #lookBackMs = 0
  #markedMs = 0
  #polls = 0

  /** `isFair`: it claims out of order, so it always looks from the start. */
  constructor(concurrency: number, mostAhead: number, isFair = false) {
    this.#concurrency = concurrency
    this.#isFair = isFair
    this.#ahead = new Ahead(concurrency, mostAhead)
  }

  /** Tasks to claim beyond those in hand. */
  room(inHand: number): number {
    return this.#concurrency + this.#ahead.tasks - inHand
  }

  /** Tasks worth a second step while one is under way. */
  get batch(): number {
    if (this.#isFair) return this.#concurrency // shared among scopes as a whole
    // Rounded down: of an odd number, what is left beside the larger half would be too little for the other step.
    return Math.max(1, Math.floor((this.#concurrency + this.#ahead.tasks) / 2))
  }

  /** The last claim was filled: there is more than this dispatcher can take. */
  get isSaturated(): boolean {
    return this.#isSaturated
  }

  began(): void {
    this.#ahead.began()
  }

  /** `isLast`: none is in hand now. */
  ended(isLast: boolean): void {
    this.#ahead.ended(isLast)
  }

  /** The tasks turned out longer than foreseen. */
  slowed(): void {
    this.#ahead.slowed()
  }

  /** Forgets how far it has claimed, and goes on from where others have. */
  begin({ gone, marks }: Beginning): void {
    this.#marks.clear()
    this.#reached.clear()
    for (const [lane, priority, order] of marks ?? []) this.#claimed(lane, { priority, order })
    if (marks !== null) this.#sweep.begin(this.#farthest(), Number(gone))
  }

  /** Tasks it had claimed are back in their places: the next look begins before them. */
  reopen(places: readonly Place[]): void {
    for (const { lane, priority, readyOrder } of places) {
      const before = { priority, order: String(BigInt(readyOrder) - 1n) }
      const mark = this.#marks.get(lane)
      if (mark !== undefined && isBefore(before, mark)) this.#marks.set(lane, before)
      const reached = this.#reached.get(lane)
      const order = reached?.get(priority)
      if (order !== undefined && BigInt(before.order) < BigInt(order)) reached?.set(priority, before.order)
    }
  }

  /** How far it has claimed, for those that begin later; `unbegun` it may still give back. */
  reached(unbegun: readonly Place[]): string | null {
    if (this.#isFair) return null // it leaves out tasks before the last one it claimed
    const rows = [...this.#reached].flatMap(([lane, reached]) =>
      [...reached].map(([priority, order]) => {
        const held = unbegun.filter((place) => place.lane === lane && place.priority === priority)
        return [lane, priority, order, leastOrder(held)]
      }),
    )
    return rows.length === 0 ? null : JSON.stringify(rows)
  }

  /**
   * From where to look in each lane. Usually behind the last task claimed there; every so often from the start,
   * because what commits late or is more urgent lies before that mark. Where looking from the start has become slow,
   * which is what somebody's long snapshot does, it is done in slices, and not more often than it may take of the time: a
   * complete look then begins, for each priority, behind the last task claimed of it.
   */
  scan(lanes: readonly number[], mustBeComplete: boolean): Scan {
    const begunAt = performance.now()
    if (this.#isFair) return { ...rangesBehind(lanes, []), isBack: false, slice: undefined, isComplete: true, begunAt }
    const since = begunAt - this.#lookedBackAt
    const isAffordable = since >= this.#lookBackMs * LOOK_BACK_SHARE
    const isBack = isAffordable && (mustBeComplete || since >= LOOK_BACK_EVERY_MS)
    const slice = isBack ? this.#sweep.next(this.#farthest()) : undefined
    if (isBack) this.#lookedBackAt = begunAt // of steps at once, one
    return {
      ...this.#ranges(lanes, { isBack, mustBeComplete, slice }),
      isBack,
      slice,
      isComplete: isBack || mustBeComplete,
      begunAt,
    }
  }

  #ranges(
    lanes: readonly number[],
    look: { readonly isBack: boolean; readonly mustBeComplete: boolean; readonly slice: Slice | undefined },
  ): Ranges {
    if (look.isBack && look.slice === undefined) return rangesBehind(lanes, [])
    if (look.slice !== undefined) return { ...this.#byPriority(lanes), slices: this.#slicesOf(lanes, look.slice) }
    const isOneLine = lanes.every((lane) => (this.#reached.get(lane)?.size ?? 0) <= 1)
    // Behind a mark of one priority lies all that is gone of those that are less urgent.
    if (look.mustBeComplete || (this.#sweep.isSliced && !isOneLine)) return this.#byPriority(lanes)
    return rangesBehind(
      lanes,
      lanes.map((lane) => this.#marks.get(lane)),
    )
  }

  #byPriority(lanes: readonly number[]): Ranges {
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

  #slicesOf(lanes: readonly number[], { from, to }: Slice): NonNullable<Ranges['slices']> {
    const slices = lanes.flatMap((lane) =>
      [...(this.#reached.get(lane) ?? [])].map(([priority, reached]) => ({
        lane,
        priority,
        to: Math.min(to, Number(reached)),
      })),
    )
    const some = slices.filter((slice) => slice.to > from)
    return {
      slice_lanes: some.map(({ lane }) => lane),
      slice_priority: some.map(({ priority }) => priority),
      slice_from: String(from),
      slice_to: some.map((slice) => String(slice.to)),
    }
  }

  stepped(claimed: readonly Place[], room: number, scan: Scan): void {
    const now = performance.now()
    // Without room it handed back what was finished, and looked nowhere.
    if (room > 0) this.#looked(scan, now, claimed.length >= room && isFrom(scan.slice, claimed))
    claimed.forEach(({ lane, priority, readyOrder: order }, i) => {
      const next = claimed[i + 1]
      if (next?.lane === lane && next.priority === priority) return
      this.#claimed(lane, { priority, order })
    })
    if (room > 0) {
      this.#isSaturated = claimed.length >= room
      this.#ahead.claimed(this.#isSaturated)
    }
    if (claimed.length > 0) this.#polls = 0
  }

  /** `isCut`: there may be more in the slice than there was room for. */
  #looked({ isBack, slice, begunAt }: Scan, now: number, isCut: boolean): void {
    const ms = now - begunAt
    if (isBack) {
      this.#lookedBackAt = now
      this.#lookBackMs = Math.max(0, ms - 2 * this.#markedMs)
      if (!isCut) this.#sweep.looked(slice, this.#lookBackMs, this.#farthest())
    } else {
      this.#markedMs = this.#markedMs * 0.9 + ms * 0.1
    }
  }

  #claimed(lane: number, mark: Mark): void {
    this.#marks.set(lane, mark)
    this.#reach(lane, mark)
  }

  #farthest(): number {
    let farthest = 0
    for (const reached of this.#reached.values())
      for (const order of reached.values()) farthest = Math.max(farthest, Number(order))
    return farthest
  }

  #reach(lane: number, { priority, order }: Mark): void {
    const reached = this.#reached.get(lane) ?? new Map<number, string>()
    this.#reached.set(lane, reached)
    // A task that committed late lies behind what was reached before.
    if (isBehind(order, reached.get(priority) ?? '0')) reached.set(priority, order)
    // Without its mark, a priority is looked at from its start: slower, and as complete.
    const [oldest] = reached.size > MOST_PRIORITIES ? reached.keys() : []
    if (oldest !== undefined) reached.delete(oldest)
  }

  #nextLookBackMs(): number {
    return Math.max(LOOK_BACK_EVERY_MS, this.#lookBackMs * LOOK_BACK_SHARE)
  }

  restartPolling(): void {
    this.#polls = 0
  }

  /** Short after going idle, when a notification is likeliest to have been missed; then slowly. */
  nextPollMs(isHeard: boolean): number {
    const ms = POLL_MS[Math.min(this.#polls, POLL_MS.length - 1)] as number
    this.#polls += 1
    const longest = isHeard ? ms : Math.min(ms, LONGEST_POLL_UNHEARD_MS)
    // A round of slices goes on while there is nothing else to do: what lies in one of them nobody else would find.
    return this.#sweep.isSliced ? Math.min(longest, this.#nextLookBackMs()) : longest
  }
}

/** From the marks on, without end. */
function rangesBehind(lanes: readonly number[], marks: readonly (Mark | undefined)[]): Ranges {
  return {
    lanes,
    fromPriorities: lanes.map((_, i) => marks[i]?.priority ?? LOWEST_PRIORITY),
    fromOrders: lanes.map((_, i) => marks[i]?.order ?? '0'),
    toPriorities: null,
  }
}

/** Of whole numbers as text: quicker than to make numbers of them, which is done with every claim. */
const isBehind = (one: string, other: string): boolean =>
  one.length === other.length ? one > other : one.length > other.length

const isBefore = (one: Mark, other: Mark): boolean =>
  one.priority < other.priority || (one.priority === other.priority && BigInt(one.order) < BigInt(other.order))

const isFrom = (slice: Slice | undefined, claimed: readonly Place[]): boolean =>
  slice !== undefined &&
  claimed.some(({ readyOrder }) => Number(readyOrder) > slice.from && Number(readyOrder) <= slice.to)

const leastOrder = (places: readonly Place[]): string | null =>
  places.reduce<string | null>(
    (least, { readyOrder }) => (least === null || BigInt(readyOrder) < BigInt(least) ? readyOrder : least),
    null,
  )
