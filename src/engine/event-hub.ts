// One reader of events for any number of subscribers. The hub keeps the newest events in a window; a subscriber takes
// from it what comes after its position. One that is behind the window, because it replays or because it is slow, reads
// from the database instead: nothing is queued for anyone.
import type { Pool } from '../db/index.ts'
import { PositionGone } from './errors.ts'
import { checkFilter, meets, readEvents, readForAll, sequence, toPosition } from './outbox.ts'
import type { EventBatch, EventFilter, EventPosition, SubscribeOptions, Subscription, TaskEvent } from './task-event.ts'

type OnEvents = (batch: EventBatch) => void | Promise<void>

const POLL_MS = 40
const IDLE_POLL_MS = 100
const PAGE = 1000
const WINDOW = 5000
const FIRST_RETRY_MS = 50
const LAST_RETRY_MS = 2000

/** The newest events that meet one of the subscribers' filters: all of those after `from` and up to `to`. */
type Window = { from: number; to: number; events: TaskEvent[] }

export class EventHub {
  readonly #pool: Pool
  readonly #subscribers = new Set<Subscriber>()
  #window: Window | undefined
  #timer: NodeJS.Timeout | undefined
  #polling: Promise<void> | undefined
  #isNudged = false
  #isClosed = false
  #pollMs = POLL_MS
  #retryMs = FIRST_RETRY_MS

  constructor(pool: Pool) {
    this.#pool = pool
  }

  /**
   * Calls `onEvents` with the events after a position, each once and in order, until it is unsubscribed. The next call
   * waits for the promise of the one before. Once this resolves, nothing that commits later is missed.
   */
  async subscribe(options: SubscribeOptions, onEvents: OnEvents): Promise<Subscription> {
    checkFilter(options.filter ?? {})
    const after = options.after === undefined ? await sequence(this.#pool) : options.after
    const subscriber = new Subscriber(
      {
        window: () => this.#window,
        read: (position, filter) => readEvents(this.#pool, { after: position, limit: PAGE, filter }),
        onEnd: () => this.#remove(subscriber),
      },
      { ...options, after: toPosition(after) },
      onEvents,
    )
    if (this.#isClosed) return subscriber
    this.#subscribers.add(subscriber)
    // What was read before did not look for what this one asks for.
    if (this.#window !== undefined) this.#window = { from: this.#window.to, to: this.#window.to, events: [] }
    subscriber.start()
    this.nudge()
    return subscriber
  }

  /** Looks for events at once: something has been committed here. */
  nudge(): void {
    if (this.#subscribers.size === 0 || this.#isClosed) return
    if (this.#polling === undefined) this.#pollIn(0)
    else this.#isNudged = true
  }

  /** Ends all subscriptions. */
  async close(): Promise<void> {
    this.#isClosed = true
    clearTimeout(this.#timer)
    const subscribers = [...this.#subscribers]
    for (const subscriber of subscribers) subscriber.unsubscribe()
    await Promise.all([this.#polling, ...subscribers.map((subscriber) => subscriber.reading())])
  }

  #remove(subscriber: Subscriber): void {
    this.#subscribers.delete(subscriber)
    if (this.#subscribers.size > 0) return
    clearTimeout(this.#timer)
    this.#window = undefined
  }

  #pollIn(ms: number): void {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => {
      this.#polling = this.#poll().then((nextMs) => {
        this.#polling = undefined
        if (this.#subscribers.size === 0 || this.#isClosed) return
        this.#pollIn(this.#isNudged ? 0 : nextMs)
        this.#isNudged = false
      })
    }, ms)
  }

  /** Answers when to look again. */
  async #poll(): Promise<number> {
    this.#isNudged = false
    try {
      const newest = Number(await sequence(this.#pool))
      const isNew = newest !== this.#window?.to
      const hasMore = isNew && (await this.#advance(newest))
      this.#retryMs = FIRST_RETRY_MS
      this.#pollMs = isNew ? POLL_MS : Math.min(this.#pollMs * 1.25, IDLE_POLL_MS)
      return hasMore ? 0 : this.#pollMs
    } catch {
      // The database is away, or a statement was aborted: events wait there.
      const retryMs = this.#retryMs
      this.#retryMs = Math.min(retryMs * 2, LAST_RETRY_MS)
      return retryMs
    }
  }

  /** Reads the next events into the window. Answers whether there are more. */
  async #advance(newest: number): Promise<boolean> {
    const window = this.#window
    if (window === undefined || window.to > newest) {
      this.#window = { from: newest, to: newest, events: [] }
      // Another database has taken the place of the one before, or an older state of it.
      if (window !== undefined) for (const subscriber of this.#subscribers) subscriber.doubt()
      this.#wakeAll()
      return false
    }
    const filters = [...this.#subscribers].map((subscriber) => subscriber.filter)
    const page = await readForAll(this.#pool, { after: String(window.to), limit: PAGE }, filters).catch((error) => {
      if (error instanceof PositionGone) return undefined
      throw error
    })
    // Emptied by a new subscriber while it was read: what was found may lack what that one asks for.
    if (this.#window !== window) return true
    if (page === undefined) this.#window = { from: newest, to: newest, events: [] }
    else {
      const events = [...window.events, ...page.events]
      const cut = events.length - WINDOW
      const from = cut > 0 ? Number(events[cut - 1]?.id) : window.from
      this.#window = { from, to: Number(page.next), events: cut > 0 ? events.slice(cut) : events }
    }
    this.#wakeAll()
    return page?.hasMore ?? false
  }

  #wakeAll(): void {
    for (const subscriber of this.#subscribers) subscriber.wake()
  }
}

type Source = {
  readonly window: () => Window | undefined
  readonly read: (after: EventPosition, filter: EventFilter) => ReturnType<typeof readEvents>
  readonly onEnd: () => void
}

class Subscriber implements Subscription {
  readonly filter: EventFilter
  readonly #source: Source
  readonly #onEvents: OnEvents
  readonly #onError: ((error: Error) => void) | undefined
  #after: EventPosition
  /** The database has said that the position is one of its own. */
  #isKnown = false
  #isEnded = false
  #isWoken = false
  #wake: (() => void) | undefined
  #reading: Promise<unknown> | undefined

  constructor(source: Source, options: SubscribeOptions & { after: EventPosition }, onEvents: OnEvents) {
    this.#source = source
    this.filter = options.filter ?? {}
    this.#after = options.after
    this.#onEvents = onEvents
    this.#onError = options.onError
  }

  get position(): EventPosition {
    return this.#after === 'oldest' ? '0' : this.#after
  }

  unsubscribe(): void {
    this.#isEnded = true
    this.#source.onEnd()
    this.wake()
  }

  wake(): void {
    this.#isWoken = true
    this.#wake?.()
  }

  /** The position may be none of this database. */
  doubt(): void {
    this.#isKnown = false
  }

  /** Settles when no statement of this subscriber is under way. */
  async reading(): Promise<void> {
    await this.#reading?.catch(() => {})
  }

  start(): void {
    void this.#run()
  }

  async #run(): Promise<void> {
    let retryMs = FIRST_RETRY_MS
    while (!this.#isEnded) {
      this.#isWoken = false
      let batch: EventBatch | undefined
      try {
        batch = this.#fromWindow() ?? (await this.#fromDatabase())
      } catch {
        // The database is away: what is there stays there.
        await this.#pause(retryMs)
        retryMs = Math.min(retryMs * 2, LAST_RETRY_MS)
        continue
      }
      retryMs = FIRST_RETRY_MS
      if (batch === undefined) await this.#pause()
      else await this.#deliver(batch)
    }
  }

  #fromWindow(): EventBatch | undefined {
    const window = this.#source.window()
    const after = Number(this.#after)
    if (!this.#isKnown || window === undefined || after < window.from || after >= window.to) return undefined
    const events = window.events.filter((event) => Number(event.id) > after && meets(event, this.filter))
    return { events, position: String(window.to), isReset: false }
  }

  /** The next events that are not in the window; nothing when there are none, or all that follow are in the window. */
  async #fromDatabase(): Promise<EventBatch | undefined> {
    const window = this.#source.window()
    if (this.#isKnown && (window === undefined || Number(this.#after) >= window.from)) return undefined
    const reading = this.#source.read(this.#after, this.filter)
    this.#reading = reading
    try {
      const { events, next } = await reading
      const isMoved = next !== this.#after
      this.#isKnown = true
      return isMoved ? { events, position: next, isReset: false } : undefined
    } catch (error) {
      if (!(error instanceof PositionGone)) throw error
      this.#isKnown = true
      return { events: [], position: error.newest, isReset: true }
    } finally {
      this.#reading = undefined
    }
  }

  async #deliver(batch: EventBatch): Promise<void> {
    let retryMs = FIRST_RETRY_MS
    while (!this.#isEnded && (batch.events.length > 0 || batch.isReset)) {
      try {
        await this.#onEvents(batch)
        this.#after = batch.position
        return
      } catch (error) {
        this.#onError?.(error as Error)
        await this.#pause(retryMs)
        retryMs = Math.min(retryMs * 2, LAST_RETRY_MS)
      }
    }
    // Nothing in it was asked for.
    if (!this.#isEnded) this.#after = batch.position
  }

  /** Until something is new, or the time has passed, or the end. */
  async #pause(ms?: number): Promise<void> {
    if (this.#isEnded || (ms === undefined && this.#isWoken)) return
    await new Promise<void>((resolve) => {
      const timer = ms === undefined ? undefined : setTimeout(resolve, ms)
      this.#wake = () => {
        // New events do not shorten a pause after a fault.
        if (ms !== undefined && !this.#isEnded) return
        clearTimeout(timer)
        resolve()
      }
    })
    this.#wake = undefined
  }
}
