// Where the loom's data come from: pages that are asked for once, and events that keep them true. It knows no browser and
// no React: both are given.
import type { LiveEvent } from '../../live.ts'
import { ABSENT, type CellState, Cloth, codeOf, isOpen, type Page, type Row, stateAt } from './cloth.ts'
import { patch } from './patch.ts'
import type { Place } from './reach.ts'
import { missing, nearest, PAGE, type Stretch, stretchesOf } from './stretch.ts'

export type SourceOptions = {
  /** Asks for a page of the loom; without `before` for the newest. */
  readonly ask: (query: { before?: number; limit: number }) => Promise<Page>
  /** The archive itself was held, released or the like. */
  readonly onArchive?: () => void
  /** Told when something happened that a measurement may want to know. */
  readonly mark?: (name: 'data' | 'event') => void
  readonly later?: (work: () => void, ms: number) => () => void
}

/** A window that moves on is not asked for: only one that stays for a moment. */
const SETTLE_MS = 60
/** The newest rows are asked for at most so often, however much happens. */
const FRESH_MS = 1_000
const AHEAD = 25
const AT_ONCE = 2

type Held = { readonly at: number; readonly event: LiveEvent }

const afterMs = (work: () => void, ms: number) => {
  const timer = setTimeout(work, ms)
  return () => clearTimeout(timer)
}

export class LoomSource {
  readonly cloth = new Cloth()
  /** The oldest revision that was ever planned. */
  first = 1
  error: Error | undefined
  isLoaded = false
  /** Rises with every change; for those who watch. */
  version = 0
  readonly #options: SourceOptions
  readonly #later: (work: () => void, ms: number) => () => void
  readonly #watchers = new Set<() => void>()
  readonly #underWay = new Set<Stretch>()
  readonly #stale = new Set<number>()
  #wanted: Stretch = { first: 0, last: -1 }
  #events: Held[] = []
  #requests = 0
  #asked = 0
  #cancelWant: (() => void) | undefined
  #cancelFresh: (() => void) | undefined
  #isFreshAgain = false
  #isClosed = false
  /** As events say; the rows are still to be fetched. */
  #planned = 0

  constructor(options: SourceOptions) {
    this.#options = options
    this.#later = options.later ?? afterMs
  }

  watch = (onChange: () => void): (() => void) => {
    this.#watchers.add(onChange)
    return () => this.#watchers.delete(onChange)
  }

  close(): void {
    this.#isClosed = true
    this.#cancelWant?.()
    this.#cancelFresh?.()
  }

  /** Loads the newest page. */
  async start(): Promise<void> {
    this.#isClosed = false
    await this.#newest(PAGE)
    this.isLoaded = this.error === undefined
    this.#tell()
  }

  /** Says which revisions are looked at; what is missing of them is loaded when they stay so. */
  want(window: Stretch): void {
    if (window.first === this.#wanted.first && window.last === this.#wanted.last) return
    this.#wanted = window
    this.#cancelWant ??= this.#later(() => {
      this.#cancelWant = undefined
      this.#load()
    }, SETTLE_MS)
  }

  retry(): void {
    this.error = undefined
    if (this.isLoaded) {
      this.#load()
      this.#freshen()
    } else void this.start()
    this.#tell()
  }

  /** Applies events. Those that come while a page is on its way are applied to it again: it may be older than they are. */
  hear(events: readonly LiveEvent[]): void {
    this.#options.mark?.('event')
    if (this.#underWay.size > 0) this.#events.push(...events.map((event) => ({ at: this.#asked, event })))
    for (const { name, detail } of events) if (name === 'revision.planned') this.#grow(detail)
    this.#apply(events)
    this.#tell()
  }

  #grow(detail: unknown): void {
    const last = (detail as { last?: unknown } | null)?.last
    if (typeof last === 'number') this.#planned = Math.max(this.#planned, last)
  }

  #apply(events: readonly LiveEvent[]): void {
    const { stale, isGrown, isArchive } = patch(this.cloth, events)
    for (const number of stale) this.#stale.add(number)
    if (isGrown || stale.size > 0) this.#freshen()
    if (isArchive) this.#options.onArchive?.()
  }

  /** Events may be missing: what is in view is fetched again, all else is forgotten until it is looked at. */
  reset(): void {
    const { first, last } = this.#wanted
    this.cloth.keep((number) => number >= first - PAGE && number <= last + PAGE)
    for (const number of this.cloth.rows.keys()) this.#stale.add(number)
    this.#options.onArchive?.()
    this.#freshen()
    this.#tell()
  }

  /** Asks for the newest rows and for those whose structure has changed, at once and then at most once a second. */
  #freshen(): void {
    if (this.#cancelFresh !== undefined) {
      this.#isFreshAgain = true
      return
    }
    this.#cancelFresh = this.#later(() => {
      this.#cancelFresh = undefined
      if (this.#isFreshAgain) this.#freshen()
      this.#isFreshAgain = false
    }, FRESH_MS)
    void this.#refresh()
  }

  async #refresh(): Promise<void> {
    const stale = [...this.#stale].filter((number) => this.cloth.rows.has(number))
    this.#stale.clear()
    const added = Math.max(1, Math.min(PAGE, this.#planned - this.cloth.planned))
    // Stale rows right at the top come with the newest.
    const near = stale.filter((number) => this.cloth.planned - number < PAGE - added)
    const depth = near.length === 0 ? 0 : this.cloth.planned - Math.min(...near) + 1
    const page = await this.#newest(Math.min(PAGE, added + depth))
    if (page === undefined) return this.#keepStale(stale)
    // More may have been planned than events told of: the newest do not reach as far down then.
    const reached = Math.min(...page.rows.map(({ number }) => number))
    await this.#fetchAgain(stale.filter((number) => number < reached))
  }

  async #fetchAgain(stale: readonly number[]): Promise<void> {
    for (const stretch of stretchesOf(stale)) {
      const page = await this.#fetch(stretch)
      if (page === undefined) return this.#keepStale(stale.filter((number) => number >= stretch.first))
    }
  }

  /** What could not be fetched again is still to be. */
  #keepStale(stale: readonly number[]): void {
    for (const number of stale) this.#stale.add(number)
  }

  async #newest(limit: number): Promise<Page | undefined> {
    const page = await this.#take({ first: 0, last: -1 }, { limit }, true)
    this.#load()
    return page
  }

  #load(): void {
    if (this.#isClosed || this.error !== undefined || this.cloth.planned === 0) return
    const { first, last } = this.#wanted
    const isThere = (number: number) =>
      this.cloth.rows.has(number) || [...this.#underWay].some((way) => number >= way.first && number <= way.last)
    const bounds = { first: this.first, last: this.cloth.planned }
    const lacking = missing({ first: first - AHEAD, last: last + AHEAD }, bounds, isThere)
    for (const stretch of lacking.slice(0, Math.max(0, AT_ONCE - this.#requests)))
      void this.#fetch(stretch).then(() => this.#load())
  }

  #fetch(stretch: Stretch): Promise<Page | undefined> {
    return this.#take(stretch, { before: stretch.last + 1, limit: stretch.last - stretch.first + 1 }, false)
  }

  /** Asks for a page and takes it in; undefined when it could not be had. */
  async #take(
    stretch: Stretch,
    query: { before?: number; limit: number },
    isNewest: boolean,
  ): Promise<Page | undefined> {
    this.#underWay.add(stretch)
    this.#requests += 1
    this.#asked += 1
    const asked = this.#asked
    try {
      const page = await this.#options.ask(query)
      if (this.#isClosed) return undefined
      this.#options.mark?.('data')
      this.cloth.weave(page, isNewest)
      if (!isNewest) this.#fill(stretch)
      patch(
        this.cloth,
        this.#events.filter(({ at }) => at >= asked).map(({ event }) => event),
      )
      this.error = undefined
      this.#forget()
      return page
    } catch (error) {
      this.error = error as Error
      return undefined
    } finally {
      this.#requests -= 1
      this.#underWay.delete(stretch)
      if (this.#underWay.size === 0) this.#events = []
      this.#tell()
    }
  }

  /** What was asked for and is not there does not exist: it is not asked for again. */
  #fill({ first, last }: Stretch): void {
    for (let number = first; number <= last; number += 1)
      if (!this.cloth.rows.has(number)) this.cloth.rows.set(number, nothing(number))
  }

  #forget(): void {
    const kept = nearest(this.cloth.rows.size, this.#wanted)
    const top = this.cloth.planned - PAGE
    if (kept !== undefined) this.cloth.keep((number) => number > top || (number >= kept.first && number <= kept.last))
  }

  /** The stream has begun: what happened between the first page and it was told to nobody. Only what is open can change. */
  sync(): void {
    for (const row of this.cloth.rows.values()) if (row.states.some(isOpen)) this.#stale.add(row.number)
    this.#freshen()
  }

  /** Shows at once what the answer to an action says; the event of it comes later. */
  answered(cell: Place, state: CellState): void {
    const row = this.cloth.rows.get(cell.number)
    if (row === undefined || stateAt(row, cell.column) === ABSENT) return
    row.states[cell.column] = codeOf[state]
    this.#tell()
  }

  #tell(): void {
    this.version += 1
    for (const watch of this.#watchers) watch()
  }
}

const nothing = (number: number): Row => ({
  number,
  author: null,
  date: null,
  message: '',
  problemCount: 0,
  definition: '',
  states: new Uint8Array(0),
  tasks: new Float64Array(0),
  edges: new Uint16Array(0),
})
