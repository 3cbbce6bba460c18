import type { Pool } from '../db/index.ts'
import type { Run } from './run.ts'
import { requeueTasks } from './tasks.sql.ts'

/** Gives tasks that were claimed and not performed back, so that others can have them at once. */
export class Returns {
  readonly #pool: Pool
  readonly #onTrouble: (error: Error) => void
  readonly #underWay = new Set<Promise<void>>()

  constructor(pool: Pool, onTrouble: (error: Error) => void) {
    this.#pool = pool
    this.#onTrouble = onTrouble
  }

  /** All runs are of one incarnation. */
  give(runs: readonly Run[]): void {
    const first = runs[0]
    if (first === undefined) return
    const back = requeueTasks(this.#pool, {
      holder: first.holder,
      ids: runs.map((run) => run.id),
      epochs: runs.map((run) => run.epoch),
      outcome: 'handed_back',
      delays: null,
      errors: null,
    })
      .then(() => {})
      .catch((error: Error) => this.#onTrouble(error))
      .finally(() => this.#underWay.delete(back))
    this.#underWay.add(back)
  }

  /** Resolves when everything given so far has arrived, or was reported as trouble. */
  async settled(): Promise<void> {
    await Promise.all(this.#underWay)
  }
}
