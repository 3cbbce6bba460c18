// Has schedules run when their moments come. Any number of servers may: each moment is taken once.
import type { Pool } from '../db/index.ts'
import { fireNext } from './fire-schedule.ts'
import type { PlanContext } from './plan-revision.ts'
import { nextMoment, readClock } from './schedules.sql.ts'
import { syncSchedules } from './sync-schedules.ts'

/** What time it is. */
export type Clock = () => Promise<Date>

/** The database's clock: all servers have the same. */
export const databaseClock =
  (pool: Pool): Clock =>
  async () =>
    (await readClock(pool, {})).now

const LOOK_MS = 1_000 // for definitions that have changed, and moments that another server did not get to

export type SchedulerOptions = {
  readonly clock?: Clock
  readonly onError: (error: Error) => void
}

export class Scheduler {
  readonly #context: PlanContext
  readonly #clock: Clock
  readonly #onError: (error: Error) => void
  #timer: NodeJS.Timeout | undefined
  #ticking: Promise<void> = Promise.resolve()
  #isStopped = false

  constructor(context: PlanContext, { clock = databaseClock(context.pool), onError }: SchedulerOptions) {
    this.#context = context
    this.#clock = clock
    this.#onError = onError
  }

  start(): void {
    this.#ticking = this.#tickOn()
  }

  /** Waits for what is under way. */
  async stop(): Promise<void> {
    this.#isStopped = true
    clearTimeout(this.#timer)
    await this.#ticking
  }

  /** Takes up what has changed and every moment that has come. Answers how long until the next one, if any is known. */
  async tick(): Promise<number | undefined> {
    const { pool } = this.#context
    await syncSchedules(pool)
    const now = await this.#clock()
    while (!this.#isStopped && (await fireNext(this.#context, now)));
    const { at } = await nextMoment(pool, {})
    return at === null ? undefined : Math.max(0, at.getTime() - now.getTime())
  }

  async #tickOn(): Promise<void> {
    let delayMs = LOOK_MS
    try {
      delayMs = Math.min(LOOK_MS, (await this.tick()) ?? LOOK_MS)
    } catch (error) {
      this.#onError(error as Error)
    }
    if (this.#isStopped) return
    this.#timer = setTimeout(
      () => {
        this.#ticking = this.#tickOn()
      },
      Math.max(10, delayMs),
    )
  }
}
