import type { FastifyInstance } from 'fastify'
import { id, routes } from '../api/index.ts'
import { type ArchiveRuns, cronInWords, nextRuns, type Schedule } from '../archives/index.ts'
import { addRoute } from './add-route.ts'
import { toPlanned } from './archive-runs.ts'
import { positionOf, toPage } from './cursor.ts'

const NEXT = 5

/** When the workflows of archives run by themselves. */
export function addSchedules(app: FastifyInstance, { schedules: all }: ArchiveRuns): void {
  const { schedules } = routes
  const page = { item: toSchedule, position: (one: Schedule) => one.id }
  addRoute(app, schedules.list, async ({ query }) => {
    const after = positionOf(schedules.list, query, id) ?? '0'
    return toPage(schedules.list, query, await all.list({ after, limit: query.limit + 1 }), page)
  })
  addRoute(app, schedules.listOf, async ({ params, query }) => {
    const after = positionOf(schedules.listOf, query, id) ?? '0'
    const rows = await all.listOf(params.name, { after, limit: query.limit + 1 })
    return toPage(schedules.listOf, query, rows, page)
  })
  addRoute(app, schedules.get, async ({ params, query }) => {
    const { schedule, next, ticks } = await all.get(params.id, query.count)
    return {
      ...toSchedule(schedule),
      next: next.map((at) => at.toISOString()),
      ticks: ticks.map(({ at, takenAt, missedSince, ...tick }) => ({
        ...tick,
        at: at.toISOString(),
        taken_at: takenAt.toISOString(),
        missed_since: missedSince?.toISOString() ?? null,
      })),
    }
  })
  addRoute(app, schedules.pause, async ({ params, identity }) => toSchedule(await all.pause(params.id, identity.name)))
  addRoute(app, schedules.resume, async ({ params }) => toSchedule(await all.resume(params.id)))
  addRoute(app, schedules.run, async ({ params, identity, once }) =>
    once(async (tx) => {
      const planned = await all.run(tx, params.id, identity.name)
      return toPlanned(planned.archive, planned)
    }),
  )
}

function toSchedule(schedule: Schedule) {
  const { nextAt, pausedAt, pausedBy, problem, last, ...rest } = schedule
  const state = pausedAt !== null ? 'paused' : problem !== null ? 'broken' : 'active'
  return {
    ...rest,
    words: cronInWords(schedule.cron),
    next: pausedAt === null ? nextRuns(schedule, new Date(), NEXT).map((at) => at.toISOString()) : [],
    state: state as 'active' | 'paused' | 'broken',
    next_at: pausedAt === null ? (nextAt?.toISOString() ?? null) : null,
    paused_at: pausedAt?.toISOString() ?? null,
    paused_by: pausedBy,
    problem,
    last: last === null ? null : { ...last, at: last.at.toISOString() },
  }
}
