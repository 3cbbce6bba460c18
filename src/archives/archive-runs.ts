// What the server needs of runs that no commit starts, in one object.
import type { Client } from '../db/index.ts'
import { findPlanned } from './find-revision.ts'
import type { PlanContext } from './plan-revision.ts'
import type { PlannedRun } from './plan-run.ts'
import { type Again, type AskedRerun, rerunRevision } from './rerun-revision.ts'
import { type AskedRun, run } from './run.ts'
import { type Clock, databaseClock, Scheduler } from './scheduler.ts'
import { Schedules } from './schedules.ts'

export class ArchiveRuns {
  readonly schedules: Schedules
  readonly #context: PlanContext
  readonly #clock: Clock

  constructor(context: PlanContext, clock: Clock = databaseClock(context.pool)) {
    this.#context = context
    this.#clock = clock
    this.schedules = new Schedules(context, clock)
  }

  /** By hand, in the transaction of the caller. */
  run(tx: Client, asked: AskedRun): Promise<PlannedRun & { readonly rev: number }> {
    return run(tx, this.#context, asked)
  }

  /** Again, in the transaction of the caller. */
  async rerun(tx: Client, asked: AskedRerun): Promise<{ number: number; tasks: Again[] }> {
    const { number } = await findPlanned(tx, asked.archive, asked.rev)
    return { number, tasks: await rerunRevision(tx, this.#context, asked) }
  }

  /** By schedule, from now on until the answered function is called. */
  start(onError: (error: Error) => void): () => Promise<void> {
    const scheduler = new Scheduler(this.#context, { clock: this.#clock, onError })
    scheduler.start()
    return () => scheduler.stop()
  }
}
