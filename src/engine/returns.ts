import { setTimeout as sleep } from 'node:timers/promises'
import type { Pool } from '../db/index.ts'
import { leaseFacts } from './reads.sql.ts'
import type { Place, Run } from './run.ts'
import { requeueTasks } from './tasks.sql.ts'

type ReturnsEvents = {
  /** They are back in their places, or not ours any more. After trouble: they will be, once that is mended. */
  onBack(places: readonly Place[]): void
  onTrouble(error: Error): void
}

const LONGEST_PAUSE_MS = 200

/** Gives tasks that were claimed and not performed back, so that others can have them at once. */
export class Returns {
  readonly #pool: Pool
  readonly #events: ReturnsEvents
  readonly #underWay = new Map<readonly Run[], Promise<void>>()
  #isClosing = false

  constructor(pool: Pool, events: ReturnsEvents) {
    this.#pool = pool
    this.#events = events
  }

  /** As many are on their way: neither in hand nor there for others. */
  get size(): number {
    return this.#underWay.size
  }

  /** Where they stood in the line, and will again. */
  places(): Place[] {
    return [...this.#underWay.keys()].flatMap(placesOf)
  }

  /** All runs are of one incarnation. */
  give(runs: readonly Run[]): void {
    if (runs.length === 0) return
    const back = this.#untilTaken(runs)
      .catch((error: Error) => this.#events.onTrouble(error))
      .finally(() => {
        this.#underWay.delete(runs)
        this.#events.onBack(placesOf(runs))
      })
    this.#underWay.set(runs, back)
  }

  /** One that somebody has locked, who adds a dependent just now, is not taken: it stays ours, and is offered again. */
  async #untilTaken(runs: readonly Run[]): Promise<void> {
    let left = runs
    for (let pauseMs = 1; ; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
      const taken = new Set((await this.#offer(left)).map(({ id }) => id))
      left = await this.#stillOurs(left.filter(({ id }) => !taken.has(id)))
      if (left.length === 0 || this.#isClosing) return
      await sleep(pauseMs)
    }
  }

  #offer(runs: readonly Run[]): Promise<{ id: string }[]> {
    return requeueTasks(this.#pool, {
      holder: (runs[0] as Run).holder,
      ids: runs.map((run) => run.id),
      epochs: runs.map((run) => run.epoch),
      outcome: 'handed_back',
      delays: null,
      errors: null,
    })
  }

  async #stillOurs(runs: readonly Run[]): Promise<Run[]> {
    if (runs.length === 0) return []
    const facts = await leaseFacts(this.#pool, {
      holders: runs.map((run) => run.holder),
      ids: runs.map((run) => run.id),
      epochs: runs.map((run) => run.epoch),
    })
    const held = new Set(facts.flatMap((fact) => (fact.is_held ? [fact.id] : [])))
    return runs.filter(({ id }) => held.has(id))
  }

  /**
   * Resolves when everything given so far has arrived, or was reported as trouble. What is locked for longer is left to
   * those who find the dispatcher gone.
   */
  async close(): Promise<void> {
    this.#isClosing = true
    await Promise.all(this.#underWay.values())
  }
}

const placesOf = (runs: readonly Run[]): Place[] => runs.flatMap(({ place }) => place ?? [])
