// Where the time of tasks went.
import { z } from 'zod'
import { route } from './route.ts'
import { id, limit, storable, time } from './shapes.ts'
import { taskStates } from './tasks.ts'

const span = z.object({
  kind: z
    .enum(['waiting', 'ready', 'running', 'delayed', 'held', 'over'])
    .describe('for requirements; without a place; performed; to be tried again; held; ended and asked for again'),
  from: time,
  to: time.nullable().describe('null: it goes on'),
  outcome: z.string().nullable().describe('of a performance that has ended'),
  worker: z.object({ id: z.int(), name: z.string() }).nullable().describe('who performed it'),
})

export const timeline = {
  get: route({
    method: 'GET',
    path: '/v1/timeline',
    name: 'timeline.get',
    summary: 'Where the time of tasks went: of a scope, a revision, a worker, or of all in a time',
    description:
      'With `archive` and `rev`, the newest tasks of a revision; with `scope`, its newest tasks; with `worker`, or neither, those that ran from `from` (default: an hour before `to`) to `to` (default: now), a day at most; of those that ended, those that ended within a day after `to`. `critical` are the tasks that the end of the last one waited for.',
    access: { role: 'viewer' },
    query: z.strictObject({
      scope: storable(z.string().min(1).max(1000)).optional(),
      archive: storable(z.string().min(1).max(400)).optional(),
      rev: z.coerce.number().int().min(0).max(Number.MAX_SAFE_INTEGER).optional(),
      worker: z.coerce.number().int().min(1).max(2_147_483_647).optional(),
      from: time.optional(),
      to: time.optional(),
      limit: limit(2000, 500),
    }),
    answers: {
      200: z.object({
        now: time.describe('of the database, for spans that go on'),
        items: z.array(
          z.object({
            id,
            kind: z.string().nullable(),
            scope: z.string(),
            key: z.string().nullable(),
            state: z.enum(taskStates),
            spans: z.array(span).describe('in order, without gaps; of the last 50 performances'),
          }),
        ),
        edges: z
          .array(z.object({ from: id, to: id, when: z.enum(['succeeded', 'failed', 'finished']) }))
          .describe('`to` waits for `from`; both are among the items'),
        critical: z.array(id),
        is_cut: z.boolean().describe('there is more than is told of'),
        next_cursor: z.null(),
      }),
    },
  }),
}
