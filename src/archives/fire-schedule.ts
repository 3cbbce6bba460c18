// What happens when the moment of a schedule has come. The moment is taken, its run is planned and the next moment is
// set in one transaction: whoever dies in between has changed nothing, and another server takes the moment.
import {
  type Client,
  isConnectionLost,
  isRetryable,
  isStoodStill,
  LONG_MS,
  savepoint,
  transaction,
} from '../db/index.ts'
import { scopeOf } from './archive.ts'
import { NothingToRun, ScheduleNotFound } from './errors.ts'
import type { PlanContext } from './plan-revision.ts'
import { type PlannedRun, planRunWithin } from './plan-run.ts'
import { latestDue, nextAfter, type Outcome } from './schedule.ts'
import { isRunOpen, recordTick, takeDue, takeOne } from './schedules.sql.ts'

const TICKS_KEPT = 100

type Due = NonNullable<Awaited<ReturnType<typeof takeOne>>>
type Result = { readonly outcome: Outcome; readonly run?: string; readonly reason?: string }

/** Takes the moment that has been due for longest; false when none is due. */
export function fireNext(context: PlanContext, now: Date): Promise<boolean> {
  const work = async (tx: Client) => {
    const due = await takeDue(tx, { now })
    if (due === undefined) return false
    // Moments that passed while nobody looked become one.
    const at = latestDue(due, due.next_at, now)
    const result = await fire(tx, context, { due, at })
    await record(tx, context, {
      due,
      result,
      at,
      now,
      missedSince: at > due.next_at ? due.next_at : null,
      nextAt: nextAfter(due, now),
      actor: null,
    })
    return true
  }
  return transaction(context.pool, work, { statementMs: LONG_MS })
}

/** Runs the workflow of a schedule because somebody asks for it. Throws what keeps it from running. */
export async function runSchedule(
  tx: Client,
  context: PlanContext,
  { id, now, actor }: { readonly id: string; readonly now: Date; readonly actor: string },
): Promise<PlannedRun & { readonly archive: string; readonly rev: number }> {
  const due = await takeOne(tx, { id })
  if (due === undefined) throw new ScheduleNotFound(id)
  const planned = await plan(tx, context, { due, at: now })
  const result = { outcome: 'planned', run: planned.run } as const
  await record(tx, context, { due, result, at: now, now, missedSince: null, nextAt: due.next_at, actor })
  return { ...planned, archive: due.name, rev: Number(due.number) }
}

type Moment = { readonly due: Due; readonly at: Date }

async function fire(tx: Client, context: PlanContext, moment: Moment): Promise<Result> {
  const { due } = moment
  if (due.problem !== null) return { outcome: 'refused', reason: due.problem }
  if (due.state !== 'active') return { outcome: 'skipped', reason: `the archive is ${due.state}` }
  if (due.overlap === 'skip' && (await isBusy(tx, due)))
    return { outcome: 'skipped', reason: `run ${due.last_run} at revision ${due.last_number} is not over` }
  try {
    const { run } = await savepoint(tx, () => plan(tx, context, moment))
    return { outcome: 'planned', run }
  } catch (error) {
    if (isRetryable(error) || isConnectionLost(error) || isStoodStill(error)) throw error
    // The schedule goes on, and so do the others behind it.
    const outcome = error instanceof NothingToRun ? 'skipped' : 'refused'
    return { outcome, reason: (error as Error).message }
  }
}

async function plan(tx: Client, context: PlanContext, { due, at }: Moment): Promise<PlannedRun> {
  const trigger = { type: 'schedule', run: '', at: at.toISOString() } as const
  const { name: archive, workflow } = due
  const rev = Number(due.number)
  const planned = await planRunWithin(tx, context, { archive, rev, trigger, chosen: { workflow } })
  if (planned.tasks.length === 0) throw new NothingToRun(archive, rev, `workflow "${workflow}"`)
  return planned
}

async function isBusy(tx: Client, { archive, last_number: number, last_run: run }: Due): Promise<boolean> {
  if (number === null || run === null) return false
  return (await isRunOpen(tx, { archive, number, run })).is_open
}

type Taken = Moment & {
  readonly result: Result
  readonly now: Date
  readonly missedSince: Date | null
  readonly nextAt: Date | null
  readonly actor: string | null
}

async function record(tx: Client, { millrace }: PlanContext, taken: Taken): Promise<void> {
  const { due, at, now, result, missedSince, nextAt, actor } = taken
  const { outcome, run = null, reason = null } = result
  await recordTick(tx, {
    id: due.id,
    at,
    now,
    missed_since: missedSince,
    next_at: nextAt,
    number: run === null ? null : due.number,
    outcome,
    run,
    reason,
    actor,
    kept: TICKS_KEPT,
  })
  const detail = { schedule: due.id, workflow: due.workflow, at: at.toISOString(), run, reason }
  await millrace.publish({ name: `schedule.${outcome}`, scope: scopeOf(due.name), detail }, { client: tx })
}
