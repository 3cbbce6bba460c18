import { setTimeout as sleep } from 'node:timers/promises'
import type { Run } from './run.ts'

/** A success that is to be recorded with the next step. */
export type Finished = {
  readonly run: Run
  readonly output: string | null
  readonly isUnchanged: boolean
  /** How often the database did not take it. */
  readonly refusals: number
}

const LONGEST_PAUSE_MS = 200

type RefusedOptions = {
  /** Finds out why; answers those that are still ours. */
  resolve(runs: readonly Run[]): Promise<readonly Run[]>
  /** They are to be offered again. */
  onAgain(finished: readonly Finished[]): void
}

/** Successes that the database did not take with a step. */
export class Refused {
  readonly #options: RefusedOptions
  readonly #doubtful = new Set<Finished>()

  constructor(options: RefusedOptions) {
    this.#options = options
  }

  /** As many are being looked into. */
  get size(): number {
    return this.#doubtful.size
  }

  runs(): readonly Run[] {
    return [...this.#doubtful].map(({ run }) => run)
  }

  has(id: string, epoch: number): boolean {
    return this.runs().some((run) => run.id === id && run.epoch === epoch)
  }

  settle(finished: readonly Finished[], accepted: readonly string[]): void {
    if (accepted.length === finished.length) return
    const taken = new Set(accepted)
    const refused = finished.flatMap((f) => (taken.has(f.run.id) ? [] : [{ ...f, refusals: f.refusals + 1 }]))
    // Mostly another claim came upon the task at the moment it was claimed here, and has it locked until it commits.
    this.#options.onAgain(refused.filter((f) => f.refusals === 1))
    const doubtful = refused.filter((f) => f.refusals > 1)
    if (doubtful.length > 0) void this.#lookInto(doubtful)
  }

  async #lookInto(doubtful: readonly Finished[]): Promise<void> {
    for (const one of doubtful) this.#doubtful.add(one)
    const ours = await this.#options.resolve(doubtful.map(({ run }) => run)).catch(() => undefined)
    const again = ours === undefined ? doubtful : doubtful.filter(({ run }) => ours.includes(run))
    const refusals = ours === undefined ? Number.POSITIVE_INFINITY : Math.min(...again.map((f) => f.refusals))
    // Whoever adds a dependent may keep it locked for long.
    if (again.length > 0) await sleep(Math.min(2 ** refusals, LONGEST_PAUSE_MS))
    for (const one of doubtful) this.#doubtful.delete(one)
    this.#options.onAgain(again)
  }
}
