import type { FastifyInstance } from 'fastify'
import { type QueryOf, routes } from '../api/index.ts'
import type { Archives } from '../archives/index.ts'
import type { Millrace, Timeline } from '../engine/index.ts'
import { addRoute } from './add-route.ts'
import { Problem } from './problems.ts'

const HOUR_MS = 3_600_000
const LONGEST_MS = 24 * HOUR_MS

type Asked = QueryOf<typeof routes.timeline.get>

/** `/v1/timeline`: where the time of tasks went. */
export function addTimeline(app: FastifyInstance, millrace: Millrace, archives: Archives): void {
  addRoute(app, routes.timeline.get, async ({ query }) => {
    check(query)
    return toBody(await find(millrace, archives, query))
  })
}

function check({ scope, archive, rev, worker }: Asked): void {
  if ([scope, archive, worker].filter((one) => one !== undefined).length > 1) {
    throw new Problem('invalid', '/query: give a scope, or an archive and a revision, or a worker, and not several')
  }
  if ((archive === undefined) !== (rev === undefined)) {
    throw new Problem('invalid', '/query/rev: an archive and a revision of it belong together')
  }
}

async function find(millrace: Millrace, archives: Archives, asked: Asked): Promise<Timeline> {
  const { scope, archive, rev, worker: dispatcher, limit } = asked
  if (archive !== undefined && rev !== undefined) {
    const ids = await archives.tasksOf(archive, { rev, limit: limit + 1 })
    return millrace.timeline(ids.slice(-limit), { isCut: ids.length > limit })
  }
  if (scope !== undefined) {
    const { items, next } = await millrace.list({ scope, limit: Math.min(limit, 500) })
    return millrace.timeline(
      items.map(({ id }) => id),
      { isCut: next !== null },
    )
  }
  const to = asked.to === undefined ? new Date() : new Date(asked.to)
  const from = asked.from === undefined ? new Date(to.getTime() - HOUR_MS) : new Date(asked.from)
  if (from >= to || to.getTime() - from.getTime() > LONGEST_MS) {
    throw new Problem('invalid', '/query/from: must be before to, by a day at most')
  }
  return millrace.timelineOf({ from, to, dispatcher, limit })
}

const toBody = ({ now, tasks, edges, critical, isCut }: Timeline) => ({
  now: now.toISOString(),
  items: tasks.map(({ spans, ...task }) => ({
    ...task,
    spans: spans.map(({ from, to, ...span }) => ({
      ...span,
      from: from.toISOString(),
      to: to?.toISOString() ?? null,
    })),
  })),
  edges: edges.map((edge) => ({ ...edge })),
  critical: [...critical],
  is_cut: isCut,
  next_cursor: null,
})
