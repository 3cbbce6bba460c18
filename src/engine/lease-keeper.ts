import { hostname } from 'node:os'
import { createPool, type Pool } from '../db/index.ts'
import { canceling, expire, heartbeat, register, unregister } from './dispatchers.sql.ts'
import { keepOutbox, type OutboxRetention } from './outbox.ts'

export type LeaseEvents = {
  /** The lease ran out and the tasks were given to others. */
  onLost(): void
  /** The lease is certain again, after a time without an answer. */
  onCertain(): void
  /** Someone asked these tasks to stop. */
  onCancel(ids: readonly string[]): void
  /** Tasks of a dead dispatcher were put back. */
  onExpired(): void
  /** Somebody wants it to pause, to drain, or to run. Told every time it is looked. */
  onWanted(wanted: Wanted): void
  /** How far was claimed, to be kept with the lease for those that begin later. */
  reached(): string | null
}

/** What a dispatcher is to do. One that drains takes nothing more, and may end when it has nothing left. */
export type Wanted = 'running' | 'paused' | 'draining'

export type LeaseOptions = {
  readonly name: string
  readonly leaseSeconds: number
  readonly maxDeaths: number
  readonly concurrency: number
  readonly version?: string
  /** How much the outbox keeps. */
  readonly retention: OutboxRetention
}

type LeasePools = {
  /** Of `heartbeatPool`. */
  readonly heartbeat: Pool
  readonly control: Pool
}

const TICK_MS = 1000
/** So that the outbox does not grow without end where nobody subscribes. */
const TICKS_PER_KEEPING = 5

/** One connection of its own that is kept, and given up soon when it falls silent: the next heartbeat needs the time. */
export function heartbeatPool(databaseUrl: string, leaseSeconds = 30): Pool {
  const patienceMs = Math.min(3000, Math.max(1000, leaseSeconds * 100))
  return createPool({
    databaseUrl,
    max: 1,
    applicationName: 'millrace heartbeat',
    connectMs: patienceMs,
    answerMs: patienceMs,
    isKept: true,
  })
}

/**
 * Holds the one lease that covers everything a dispatcher runs. Takes away those of dispatchers that fell silent, and
 * keeps the outbox within its limits: each holder of a lease does so for all.
 *
 * A heartbeat comes every third of the lease, and every second while it fails. So an outage that is shorter than two thirds
 * of the lease, less a few seconds, takes nothing away, whenever it begins. Only the database says that a lease is lost.
 */
export class LeaseKeeper {
  readonly #pools: LeasePools
  readonly #options: LeaseOptions
  readonly #events: LeaseEvents
  readonly #leaseMs: number
  #lanes: readonly number[] = []
  #holder = 0
  #certainUntil = 0
  #beat: NodeJS.Timeout | undefined
  #tick: NodeJS.Timeout | undefined
  #ticksUntilKeeping = TICKS_PER_KEEPING
  #isLooking = false
  #isExpiring = false
  #isDropped = false
  /** Since when the database has answered every second, and when it last did, by its own clock. */
  #inTouch: { readonly since: string; readonly last: string } | undefined

  constructor(pools: LeasePools, options: LeaseOptions, events: LeaseEvents) {
    this.#pools = pools
    this.#options = options
    this.#events = events
    this.#leaseMs = options.leaseSeconds * 1000
  }

  /** The incarnation: half of the fencing token. */
  get holder(): number {
    return this.#holder
  }

  /** No other dispatcher can have the tasks: the lease was renewed less than its length ago. */
  get isCertain(): boolean {
    return performance.now() < this.#certainUntil
  }

  async take(lanes: readonly number[]): Promise<void> {
    this.#lanes = lanes
    await this.retake()
    this.#beatIn(this.#leaseMs / 3)
    void this.#expire()
    this.#tick = setInterval(() => this.#onTick(), TICK_MS)
  }

  async retake(): Promise<void> {
    const asked = performance.now()
    const { concurrency, version } = this.#options
    const { id } = await register(this.#pools.heartbeat, {
      name: this.#options.name,
      lease_seconds: this.#options.leaseSeconds,
      lanes: this.#lanes,
      host: hostname(),
      facts: JSON.stringify({ slots: concurrency, process: process.pid, version }),
      before: this.#holder === 0 ? null : this.#holder,
    })
    this.#holder = id
    this.#certainUntil = asked + this.#leaseMs
  }

  #beatIn(ms: number): void {
    if (!this.#isDropped) this.#beat = setTimeout(() => void this.#renew(), ms)
  }

  async #renew(): Promise<void> {
    const holder = this.#holder
    const asked = performance.now()
    const answer = await heartbeat(this.#pools.heartbeat, { holder, reached: this.#events.reached() }).catch(
      () => undefined,
    )
    if (answer === undefined) return this.#beatIn(Math.min(1000, this.#leaseMs / 10))
    this.#beatIn(Math.max(0, asked + this.#leaseMs / 3 - performance.now()))
    if (this.#isDropped || holder !== this.#holder) return undefined
    if (!answer.is_alive) return this.#events.onLost()
    const wasCertain = this.isCertain
    this.#certainUntil = asked + this.#leaseMs
    if (!wasCertain) this.#events.onCertain()
    if (answer.canceling.length > 0) this.#events.onCancel(answer.canceling)
    this.#events.onWanted(answer.wanted as Wanted)
    return undefined
  }

  /** Asks what was canceled, and what is wanted: on a notification, and without notifications every so often. */
  lookForCancels(): void {
    const holder = this.#holder
    this.#isLooking = true
    canceling(this.#pools.control, { holder })
      .then(({ ids, wanted }) => {
        if (holder !== this.#holder) return
        if (ids.length > 0) this.#events.onCancel(ids)
        if (wanted !== null) this.#events.onWanted(wanted as Wanted)
      })
      .catch(() => {})
      .finally(() => {
        this.#isLooking = false
      })
  }

  /** What a silent connection has not answered yet is not asked again on another every second. */
  #onTick(): void {
    if (!this.#isLooking) this.lookForCancels()
    if (!this.#isExpiring) void this.#expire()
    this.#keepOutbox()
  }

  async #expire(): Promise<void> {
    this.#isExpiring = true
    try {
      const { count, ...inTouch } = await expire(this.#pools.control, {
        max_deaths: this.#options.maxDeaths,
        since: this.#inTouch?.since ?? null,
        last: this.#inTouch?.last ?? null,
        gap_seconds: Math.max(2, this.#options.leaseSeconds / 3),
      })
      this.#inTouch = inTouch
      if (count > 0) this.#events.onExpired()
    } catch {
      // The next tick asks again.
    } finally {
      this.#isExpiring = false
    }
  }

  #keepOutbox(): void {
    this.#ticksUntilKeeping -= 1
    if (this.#ticksUntilKeeping > 0) return
    this.#ticksUntilKeeping = TICKS_PER_KEEPING
    keepOutbox(this.#pools.control, this.#options.retention)
      .then((count) => {
        // A portion at a time: there is probably more.
        if (count > 0) this.#ticksUntilKeeping = 1
      })
      .catch(() => {})
  }

  /** Stops renewing. What is still held is taken away by others at once. */
  async drop(reached: string | null): Promise<void> {
    this.#isDropped = true
    clearTimeout(this.#beat)
    clearInterval(this.#tick)
    await unregister(this.#pools.control, { holder: this.#holder, reached }).catch(() => {})
  }
}
