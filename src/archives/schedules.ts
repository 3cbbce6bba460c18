// What a person sees of schedules and does to them.
import { type Client, type Pool, transaction } from '../db/index.ts'
import { nextRuns } from './definition/cron.ts'
import { ScheduleNotFound } from './errors.ts'
import { find } from './find.ts'
import { runSchedule } from './fire-schedule.ts'
import type { PlanContext } from './plan-revision.ts'
import type { PlannedRun } from './plan-run.ts'
import { nextAfter, type Schedule, type Tick } from './schedule.ts'
import type { Clock } from './scheduler.ts'
import { listSchedules, listTicks, pauseSchedule, resumeSchedule, takeOne } from './schedules.sql.ts'

export type SchedulePage = { readonly after: string; readonly limit: number }
export type ScheduleStory = {
  readonly schedule: Schedule
  readonly next: readonly Date[]
  readonly ticks: readonly Tick[]
}

const TICKS_SHOWN = 20

export class Schedules {
  readonly #context: PlanContext
  readonly #clock: Clock

  constructor(context: PlanContext, clock: Clock) {
    this.#context = context
    this.#clock = clock
  }

  async list(page: SchedulePage): Promise<Schedule[]> {
    const rows = await listSchedules(this.#pool, { archive: null, id: null, ...page })
    return rows.map(toSchedule)
  }

  /** Those of one archive. Throws `ArchiveNotFound`. */
  async listOf(archive: string, page: SchedulePage): Promise<Schedule[]> {
    await find(this.#pool, archive)
    const rows = await listSchedules(this.#pool, { archive, id: null, ...page })
    return rows.map(toSchedule)
  }

  /** With its next moments and the last ones. Throws `ScheduleNotFound`. */
  async get(id: string, count: number): Promise<ScheduleStory> {
    const [row] = await listSchedules(this.#pool, { archive: null, id, after: '0', limit: 1 })
    if (row === undefined) throw new ScheduleNotFound(id)
    const ticks = await listTicks(this.#pool, { id, limit: TICKS_SHOWN })
    const next = nextRuns(row, await this.#clock(), count)
    return {
      schedule: toSchedule(row),
      next,
      ticks: ticks.map((tick) => ({
        at: tick.at,
        takenAt: tick.taken_at,
        missedSince: tick.missed_since,
        outcome: tick.outcome as Tick['outcome'],
        run: tick.run,
        rev: tick.number === null ? null : Number(tick.number),
        reason: tick.reason,
        actor: tick.actor,
      })),
    }
  }

  /** Keeps it from running. What passes meanwhile is not made up for. */
  async pause(id: string, actor: string): Promise<Schedule> {
    const now = await this.#clock()
    return this.#change(id, (tx) => pauseSchedule(tx, { id, now, actor }))
  }

  async resume(id: string): Promise<Schedule> {
    const now = await this.#clock()
    return this.#change(id, (tx, times) => resumeSchedule(tx, { id, next_at: nextAfter(times, now) }))
  }

  /** Runs it now, in the transaction of the caller, paused or not and whatever else of it runs. */
  async run(tx: Client, id: string, actor: string): Promise<PlannedRun & { archive: string; rev: number }> {
    return runSchedule(tx, this.#context, { id, now: await this.#clock(), actor })
  }

  get #pool(): Pool {
    return this.#context.pool
  }

  async #change(id: string, change: (tx: Client, times: { cron: string; timezone: string }) => Promise<unknown>) {
    await transaction(this.#pool, async (tx) => {
      const found = await takeOne(tx, { id })
      if (found === undefined) throw new ScheduleNotFound(id)
      await change(tx, found)
    })
    return (await this.get(id, 0)).schedule
  }
}

type Row = Awaited<ReturnType<typeof listSchedules>>[number]
type LastRow = { at: string; outcome: Tick['outcome']; run: string | null; rev: number | null; reason: string | null }

function toSchedule(row: Row): Schedule {
  const last = row.last as LastRow | null
  return {
    id: row.id,
    archive: row.archive,
    workflow: row.workflow,
    cron: row.cron,
    timezone: row.timezone,
    overlap: row.overlap as Schedule['overlap'],
    nextAt: row.next_at,
    pausedAt: row.paused_at,
    pausedBy: row.paused_by,
    problem: row.problem,
    last: last === null ? null : { ...last, at: new Date(last.at) },
  }
}
