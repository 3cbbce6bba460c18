// A dispatcher without a loop: it claims and performs when it is told to. Everything else, from the claim to the
// recorded outcome, goes the way of a running dispatcher.
import { hostname } from 'node:os'
import { checkQueues } from './dispatch-options.ts'
import { beginSuspect, register, unregister } from './dispatchers.sql.ts'
import { InvalidOption } from './errors.ts'
import { lanesOf } from './lanes-of.ts'
import { type Millrace, type Parts, partsOf } from './millrace.ts'
import { perform } from './perform.ts'
import { readAttempts, readTask } from './reads.sql.ts'
import { resolveRefused } from './reconcile.ts'
import { Run } from './run.ts'
import { step } from './step.ts'
import type { TaskId, TaskState } from './task.ts'
import type { AnyWorker } from './worker.ts'

/** What one performance of a task came to. */
export type Performed = {
  readonly id: TaskId
  readonly kind: string
  /** How this attempt ended. `dropped`: the lease was lost meanwhile, and nothing of it was recorded. */
  readonly outcome: 'succeeded' | 'failed' | 'canceled' | 'retry' | 'later' | 'dropped'
  /** The task's state afterwards. */
  readonly state: TaskState
  /** The error as it is kept with the attempt; null when there was none. */
  readonly error: PerformedError | null
  readonly output: unknown
}

export type PerformedError = {
  readonly category: 'transient' | 'permanent' | 'advisory'
  readonly name: string
  readonly message: string
  readonly [more: string]: unknown
}

export type ManualOptions = {
  /** Queues to take tasks from, at least one. Default: each worker's own. */
  readonly queues?: readonly string[]
  readonly leaseSeconds?: number
  readonly name?: string
  readonly onLog?: (entry: { task: string; kind: string; message: string; fields?: Record<string, unknown> }) => void
}

const LOWEST_PRIORITY = -(2 ** 31)
const MOST_LOOKS = 10_000 // each applies 50 rounds of consequences: enough for a chain of half a million milestones
const LEASE_SECONDS = 3600 // nobody renews it, and a debugger may stand still for long

type Success = { readonly output: string | null; readonly isUnchanged: boolean }

export class ManualDispatcher {
  readonly id: number
  readonly lanes: readonly number[]
  readonly #parts: Parts
  readonly #workerOfLane: ReadonlyMap<number, AnyWorker>
  readonly #options: ManualOptions

  private constructor(
    parts: Parts,
    registered: { id: number; lanes: readonly number[]; workerOfLane: ReadonlyMap<number, AnyWorker> },
    options: ManualOptions,
  ) {
    this.#parts = parts
    this.id = registered.id
    this.lanes = registered.lanes
    this.#workerOfLane = registered.workerOfLane
    this.#options = options
  }

  static async register(
    millrace: Millrace,
    workers: readonly AnyWorker[],
    options: ManualOptions = {},
  ): Promise<ManualDispatcher> {
    if (workers.length === 0) throw new InvalidOption('at least one worker is needed')
    checkQueues(options.queues)
    const parts = partsOf(millrace)
    for (const worker of workers) parts.names.define(worker)
    const workerOfLane = await lanesOf(parts.names, workers, options.queues)
    const { id } = await register(parts.pool, {
      name: options.name ?? 'by hand',
      lease_seconds: options.leaseSeconds ?? LEASE_SECONDS,
      lanes: [...workerOfLane.keys()],
      host: hostname(),
      facts: '{}',
      before: null,
    })
    return new ManualDispatcher(parts, { id, lanes: [...workerOfLane.keys()], workerOfLane }, options)
  }

  /** Claims up to `limit` ready tasks, the most urgent first, after applying all consequences that are pending. */
  async claim(limit = 1): Promise<Run[]> {
    for (let look = 1; ; look += 1) {
      const { tasks, hasEffects } = await this.#step([], limit)
      if (tasks.length === 0 && hasEffects && look < MOST_LOOKS) continue
      return tasks.map((task) => new Run(this.#workerOfLane.get(task.lane) as AnyWorker, task, this.id))
    }
  }

  /** Performs a claimed task, and answers once its outcome has been recorded or found void. */
  async perform(run: Run): Promise<Performed> {
    const mine =
      run.deaths === 0 ||
      (await beginSuspect(this.#parts.pool, { holder: this.id, id: run.id, epoch: run.epoch })).is_mine
    if (mine) {
      const success = await this.#performed(run)
      if (success !== undefined) await this.#recordSuccess(run, success)
    } else await this.#resolve(run)
    return this.#describe(run)
  }

  /** Ends the lease. What was claimed and not performed is found by others as that of a dead dispatcher. */
  async unregister(): Promise<void> {
    await unregister(this.#parts.pool, { holder: this.id, reached: null })
  }

  #performed(run: Run): Promise<Success | undefined> {
    return new Promise((resolve, reject) => {
      perform(this.#parts, run, {
        onLog: (of, message, fields) =>
          this.#options.onLog?.({
            task: of.id,
            kind: of.worker.kind,
            message,
            ...(fields === undefined ? {} : { fields }),
          }),
        onSuccess: (_, output, isUnchanged) => resolve({ output, isUnchanged }),
        onRecorded: () => resolve(undefined),
        onError: reject,
      })
    })
  }

  async #recordSuccess(run: Run, success: Success): Promise<void> {
    for (;;) {
      const { accepted } = await this.#step([{ run, ...success }], 0)
      if (accepted.includes(run.id) || !(await this.#resolve(run))) return
    }
  }

  /** Whether the outcome must be offered again. */
  async #resolve(run: Run): Promise<boolean> {
    const again = await resolveRefused(this.#parts, [run], (error) => {
      throw error
    })
    return again.length > 0
  }

  #step(finished: readonly ({ readonly run: Run } & Success)[], limit: number) {
    return step(this.#parts.pool, {
      holder: this.id,
      ids: finished.map((f) => f.run.id),
      epochs: finished.map((f) => f.run.epoch),
      outputs: finished.map((f) => f.output),
      unchanged: finished.flatMap((f) => (f.isUnchanged ? [f.run.id] : [])),
      lanes: this.lanes,
      from_priority: this.lanes.map(() => LOWEST_PRIORITY),
      from_order: this.lanes.map(() => '0'),
      limit,
      idle: null,
    })
  }

  async #describe(run: Run): Promise<Performed> {
    const task = await readTask(this.#parts.pool, { id: run.id, scope: null, key: null })
    const attempts = await readAttempts(this.#parts.pool, { task: run.id, number: null, limit: null })
    const attempt = attempts.find((row) => row.epoch === run.epoch && row.holder === this.id)
    const outcome = attempt?.outcome
    return {
      id: run.id,
      kind: run.worker.kind,
      outcome: outcome == null || outcome === 'lease_lost' ? 'dropped' : (outcome as Performed['outcome']),
      state: task?.state as TaskState,
      error: (attempt?.error ?? null) as PerformedError | null,
      output: attempt?.output ?? null,
    }
  }
}
