import { setTimeout as sleep } from 'node:timers/promises'
import type { Pool } from '../db/index.ts'
import { resumeTasks } from './dispatchers.sql.ts'
import type { LeaseKeeper } from './lease-keeper.ts'
import type { Run } from './run.ts'

const AGAIN_MS = 1000
const PAUSE_MS = 250

type LostParts = {
  /** What is at work, or has ended and is not recorded. */
  runs(): readonly Run[]
  onRetaken(): Promise<void>
  /** Nothing can be recorded any more. */
  isOver(): boolean
}

/**
 * Runs whose lease was lost while their work went on. A new lease takes them back, unless another attempt has begun: then
 * they are stopped. One that cannot be taken back yet, since it queues for a lock or is held, goes on and is asked for later.
 */
export class Lost {
  readonly #pool: Pool
  readonly #lease: LeaseKeeper
  readonly #parts: LostParts
  #open: readonly Run[] = []
  #timer: NodeJS.Timeout | undefined

  constructor(pool: Pool, lease: LeaseKeeper, parts: LostParts) {
    this.#pool = pool
    this.#lease = lease
    this.#parts = parts
  }

  /** Takes a new lease, and with it what no other attempt has begun; tries until the database is there. */
  async retake(): Promise<void> {
    let isTaken = false
    while (!this.#parts.isOver()) {
      try {
        if (!isTaken) await this.#lease.retake()
        isTaken = true
        await this.#resume(this.#parts.runs())
        return await this.#parts.onRetaken()
      } catch {
        await sleep(PAUSE_MS)
      }
    }
  }

  async #resume(runs: readonly Run[]): Promise<void> {
    clearTimeout(this.#timer)
    const { holder } = this.#lease
    const lost = runs.filter((run) => run.holder !== holder && run.stopped !== 'lease_lost')
    if (lost.length === 0) return
    const fates = await resumeTasks(this.#pool, {
      holder,
      ids: lost.map((run) => run.id),
      epochs: lost.map((run) => run.epoch),
    })
    const fateOf = new Map(fates.map(({ id, fate }) => [id, fate]))
    this.#open = []
    for (const run of lost) {
      const fate = fateOf.get(run.id)
      if (fate === 'resumed') run.holder = holder
      else if (fate === 'open') this.#open = [...this.#open, run]
      else run.stop('lease_lost')
    }
    if (this.#open.length > 0) this.#resumeLater()
  }

  /** Nothing is asked after the end: an answer may come when `close` has been called. */
  #resumeLater(): void {
    if (this.#parts.isOver()) return
    this.#timer = setTimeout(() => {
      this.#resume(this.#open).catch(() => this.#resumeLater())
    }, AGAIN_MS)
  }

  close(): void {
    clearTimeout(this.#timer)
  }
}
