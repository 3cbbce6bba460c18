import { hostname } from 'node:os'
import type { Pool } from '../db/index.ts'
import { canceling, expire, heartbeat, register, unregister } from './dispatchers.sql.ts'
import { keepOutbox, type OutboxRetention } from './outbox.ts'

export type LeaseEvents = {
  /** The lease ran out and the tasks were given to others. */
  onLost(): void
  /** The lease is over by our own clock and the database is out of reach: others may run our tasks by now. */
  onSilence(): void
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

const TICK_MS = 1000
/** So that the outbox does not grow without end where nobody subscribes. */
const TICKS_PER_KEEPING = 5

/**
 * Holds the one lease that covers everything a dispatcher runs. Takes away those of dispatchers that fell silent, and
 * keeps the outbox within its limits: whoever holds a lease does so for all.
 */
export class LeaseKeeper {
  readonly #pool: Pool
  readonly #options: LeaseOptions
  readonly #events: LeaseEvents
  #lanes: readonly number[] = []
  #holder = 0
  #endsAt = 0
  #beat: NodeJS.Timeout | undefined
  #tick: NodeJS.Timeout | undefined
  #ticksUntilKeeping = TICKS_PER_KEEPING

  constructor(pool: Pool, options: LeaseOptions, events: LeaseEvents) {
    this.#pool = pool
    this.#options = options
    this.#events = events
  }

  /** The incarnation: half of the fencing token. */
  get holder(): number {
    return this.#holder
  }

  async take(lanes: readonly number[]): Promise<void> {
    this.#lanes = lanes
    await this.retake()
    this.#beat = setInterval(() => this.#renew(), (this.#options.leaseSeconds * 1000) / 3) // two renewals may be lost before the lease is
    this.#tick = setInterval(() => this.#onTick(), TICK_MS)
  }

  async retake(): Promise<void> {
    const asked = performance.now()
    const { concurrency, version } = this.#options
    const { id } = await register(this.#pool, {
      name: this.#options.name,
      lease_seconds: this.#options.leaseSeconds,
      lanes: this.#lanes,
      host: hostname(),
      facts: JSON.stringify({ slots: concurrency, process: process.pid, version }),
      before: this.#holder === 0 ? null : this.#holder,
    })
    this.#holder = id
    this.#endsAt = asked + this.#options.leaseSeconds * 1000
  }

  #renew(): void {
    const holder = this.#holder
    const asked = performance.now()
    // A connection that fell silent answers nothing, not even an error.
    if (asked > this.#endsAt) this.#events.onSilence()
    heartbeat(this.#pool, { holder, reached: this.#events.reached() })
      .then((answer) => {
        if (holder !== this.#holder) return
        if (!answer.is_alive) return this.#events.onLost()
        this.#endsAt = asked + this.#options.leaseSeconds * 1000
        if (answer.canceling.length > 0) this.#events.onCancel(answer.canceling)
        this.#events.onWanted(answer.wanted as Wanted)
      })
      .catch(() => {}) // the next beat tries again; silence is noticed below
      .finally(() => {
        if (holder === this.#holder && performance.now() > this.#endsAt) this.#events.onSilence()
      })
  }

  /** Asks what was canceled, and what is wanted: on a notification, and without notifications every so often. */
  lookForCancels(): void {
    const holder = this.#holder
    canceling(this.#pool, { holder })
      .then(({ ids, wanted }) => {
        if (holder !== this.#holder) return
        if (ids.length > 0) this.#events.onCancel(ids)
        if (wanted !== null) this.#events.onWanted(wanted as Wanted)
      })
      .catch(() => {})
  }

  #onTick(): void {
    this.lookForCancels()
    this.#keepOutbox()
    expire(this.#pool, { max_deaths: this.#options.maxDeaths })
      .then(({ count }) => {
        if (count > 0) this.#events.onExpired()
      })
      .catch(() => {})
  }

  #keepOutbox(): void {
    this.#ticksUntilKeeping -= 1
    if (this.#ticksUntilKeeping > 0) return
    this.#ticksUntilKeeping = TICKS_PER_KEEPING
    keepOutbox(this.#pool, this.#options.retention)
      .then((count) => {
        // A portion at a time: there is probably more.
        if (count > 0) this.#ticksUntilKeeping = 1
      })
      .catch(() => {})
  }

  /** Stops renewing. What is still held is taken away by others at once. */
  async drop(reached: string | null): Promise<void> {
    clearInterval(this.#beat)
    clearInterval(this.#tick)
    await unregister(this.#pool, { holder: this.#holder, reached }).catch(() => {})
  }
}
