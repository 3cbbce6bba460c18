// One stream of events: opened, followed, taken up again where it broke, and replaced by asking again and again when it
// cannot be had. It knows no browser: what it needs of one is given, so that a test can be the server.
import type { BodyAnswered, routes } from '../api.ts'

type Page = BodyAnswered<typeof routes.events.stream>
export type LiveEvent = Page['items'][number]

/** What the stream is doing, for the badge. */
export type StreamState =
  | { readonly is: 'connecting' }
  | { readonly is: 'live' }
  | { readonly is: 'polling' }
  | { readonly is: 'offline'; readonly since: number }

export type Opened = { close(): void }

export type StreamHandlers = {
  onHello(position: string): void
  onEvent(event: LiveEvent): void
  onReset(position: string): void
  onBroken(): void
}

export type StreamOptions = {
  /** Opens a stream that begins after `after`, with the events of these scopes; none: of all. */
  readonly open: (asked: { after: string | undefined; scopes: readonly string[] }, handlers: StreamHandlers) => Opened
  /** Reads a page of events; after `newest` there are none, and it says which position that is. */
  readonly page: (asked: { after: string; scopes: readonly string[] }) => Promise<Page>
  readonly onEvents: (events: readonly LiveEvent[], position: string) => void
  /** Events may have been missed: what is shown must be fetched again. */
  readonly onReset: (position: string) => void
  readonly onState: (state: StreamState) => void
  readonly now?: () => number
  /** Calls back later; answers what to call to prevent it. */
  readonly later?: (work: () => void, ms: number) => () => void
}

const FIRST_WAIT_MS = 1_000
const LONGEST_WAIT_MS = 30_000
const POLL_MS = 5_000
/** Whoever is further behind than so many pages begins anew instead of reading them all. */
const MOST_PAGES = 10
/** Whoever heard nothing for so long and wants other scopes begins anew: all that happened in them since would be sent. */
const LONG_AGO_MS = 60_000
/** After so many broken openings in a row the stream is taken to be impossible here (a proxy that collects answers). */
const BROKEN_BEFORE_POLLING = 3

const afterMs = (work: () => void, ms: number) => {
  const timer = setTimeout(work, ms)
  return () => clearTimeout(timer)
}

export class EventStream {
  readonly #options: StreamOptions
  readonly #now: () => number
  readonly #later: (work: () => void, ms: number) => () => void
  #opened: Opened | undefined
  #cancelLater: () => void = () => {}
  #position: string | undefined
  /** When the position was told. */
  #toldAt = 0
  /** Where it left off long ago. */
  #left: string | undefined
  #scopes: readonly string[] = []
  #broken = 0
  #offlineSince: number | undefined
  #isStarted = false
  /** Rises with every opening: what an earlier one still says is not listened to. */
  #round = 0

  constructor(options: StreamOptions) {
    this.#options = options
    this.#now = options.now ?? Date.now
    this.#later = options.later ?? afterMs
  }

  /** Up to here everything was told. */
  get position(): string | undefined {
    return this.#position
  }

  /** Begins after a position, told at some moment; without one it begins now, and says by a reset what now is. */
  start(after: string | undefined, toldAt = this.#now()): void {
    if (this.#isStarted) return
    this.#isStarted = true
    this.#position = after
    this.#toldAt = toldAt
    this.#left = undefined
    this.#connect()
  }

  stop(): void {
    this.#isStarted = false
    this.#end()
  }

  /** Follows other scopes from now on, without missing anything between; a reset says so where that would be too much. */
  follow(scopes: readonly string[]): void {
    if (scopes.join('\n') === this.#scopes.join('\n')) return
    this.#scopes = scopes
    if (!this.#isStarted) return
    if (this.#now() - this.#toldAt > LONG_AGO_MS) {
      this.#left = this.#position ?? this.#left
      this.#position = undefined
    }
    this.#connect()
  }

  #goTo(position: string): void {
    this.#position = position
    this.#toldAt = this.#now()
    this.#left = undefined
  }

  #end(): void {
    this.#round += 1
    this.#cancelLater()
    this.#opened?.close()
    this.#opened = undefined
  }

  #connect(): void {
    this.#end()
    const round = this.#round
    const isCurrent = () => round === this.#round
    if (this.#offlineSince === undefined) this.#options.onState({ is: 'connecting' })
    this.#opened = this.#options.open(
      { after: this.#position, scopes: this.#scopes },
      {
        onHello: (position) => {
          if (!isCurrent()) return
          const isNew = this.#position === undefined
          // Where nothing happened in any scope, nothing was missed.
          const isMissed = isNew && position !== this.#left
          if (isNew) this.#goTo(position)
          // What was fetched before may have changed before this moment, and nobody told.
          if (isMissed) this.#options.onReset(position)
          this.#working({ is: 'live' })
        },
        onEvent: (event) => {
          if (!isCurrent()) return
          this.#goTo(event.id)
          this.#options.onEvents([event], event.id)
        },
        onReset: (position) => {
          if (!isCurrent()) return
          this.#goTo(position)
          this.#options.onReset(position)
        },
        onBroken: () => {
          if (isCurrent()) this.#break()
        },
      },
    )
  }

  #working(state: StreamState): void {
    this.#broken = state.is === 'live' ? 0 : this.#broken
    this.#offlineSince = undefined
    this.#options.onState(state)
  }

  #break(): void {
    this.#end()
    this.#broken += 1
    if (this.#broken >= BROKEN_BEFORE_POLLING) {
      void this.#poll()
      return
    }
    this.#tellOffline()
    this.#cancelLater = this.#later(() => this.#connect(), this.#wait())
  }

  #wait(): number {
    return Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** Math.min(this.#broken - 1, 10))
  }

  #tellOffline(): void {
    this.#offlineSince ??= this.#now()
    this.#options.onState({ is: 'offline', since: this.#offlineSince })
  }

  /** Asks for what came since; every so often, and when the server is back, it tries the stream again instead. */
  async #poll(pages = 0): Promise<void> {
    const round = this.#round
    const wasOffline = this.#offlineSince !== undefined
    let hasMore = false
    try {
      const page = await this.#options.page({ after: this.#position ?? 'newest', scopes: this.#scopes })
      if (round !== this.#round) return
      hasMore = page.next_cursor !== null
      this.#take(page, hasMore)
      if (hasMore && pages >= MOST_PAGES) this.#position = undefined
    } catch (error) {
      if (round !== this.#round) return
      const isGone = (error as { code?: unknown }).code === 'position_gone'
      if (isGone) this.#position = undefined
      else this.#tellOffline()
      hasMore = isGone
    }
    if (hasMore) {
      void this.#poll(pages + 1)
      return
    }
    const isBack = wasOffline && this.#offlineSince === undefined
    this.#broken = isBack ? 0 : this.#broken + 1
    const isTimeForStream = isBack || this.#broken % 12 === 0
    const next = () => (isTimeForStream ? this.#connect() : void this.#poll())
    this.#cancelLater = this.#later(next, isBack ? 0 : POLL_MS)
  }

  #take(page: Page, hasMore: boolean): void {
    const isNew = this.#position === undefined
    this.#goTo(page.position)
    if (isNew) this.#options.onReset(page.position)
    this.#working({ is: hasMore ? 'connecting' : 'polling' })
    if (page.items.length > 0) this.#options.onEvents(page.items, page.position)
  }
}
