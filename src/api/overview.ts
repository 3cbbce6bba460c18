// What a person looks at first.
import { z } from 'zod'
import { route } from './route.ts'
import { id, time } from './shapes.ts'

const attention = z
  .object({
    code: z
      .string()
      .describe(
        'stable: task_failed, no_worker, line_stands, tasks_held, worker_died, archive_broken, archive_held, archive_unreadable, definition_broken, revision_gap, revisions_behind, schedule_late, schedule_broken, schedule_paused, schedule_missed, webhook_failing, webhook_disabled',
      ),
    severity: z.enum(['critical', 'warning', 'notice']),
    sentence: z.string(),
    since: time.nullable(),
    count: z.int().describe('how many there are of it; what is named is one of them'),
    task: id.nullable(),
    key: z.string().nullable().describe('of the task'),
    kind: z.string().nullable().describe('of the task'),
    queue: z.string().nullable(),
    scope: z.string().nullable(),
    worker: z.int().nullable(),
    archive: z.string().nullable(),
    revision: z.int().nullable(),
    schedule: id.nullable(),
    webhook: id.nullable(),
    action: z.string().nullable().describe('the name of the operation that helps, such as tasks.retry'),
  })
  .meta({ id: 'Attention' })

const percentiles = z
  .object({ p50: z.int(), p90: z.int(), p95: z.int() })
  .nullable()
  .describe('in milliseconds; null: nothing of it has run')

const counts = {
  succeeded: z.int(),
  failed: z.int(),
  canceled: z.int(),
  skipped: z.int(),
}

const line = z
  .object({
    queue: z.string(),
    kind: z.string(),
    waiting: z.int().describe('how many are ready'),
    is_exact: z.boolean().describe('false: there are that many or more'),
    workers: z.int().describe('how many take from it now'),
    first: z.object({ id, scope: z.string(), key: z.string().nullable(), ready_at: time.nullable() }),
  })
  .meta({ id: 'Line' })

export const overview = {
  lines: route({
    method: 'GET',
    path: '/v1/lines',
    name: 'overview.lines',
    summary: 'What is ready and waits for a worker, by queue and kind; the longest waiting first',
    description: 'At most 50.',
    access: { role: 'viewer' },
    answers: { 200: z.object({ items: z.array(line), next_cursor: z.null() }) },
  }),
  attention: route({
    method: 'GET',
    path: '/v1/attention',
    name: 'overview.attention',
    summary: 'What needs a person’s attention, the most urgent first',
    description: 'At most 500. Webhooks are told of to administrators alone.',
    access: { role: 'viewer' },
    query: z.strictObject({
      since: time.optional().describe('how far back failures and deaths are looked for; default: a day'),
    }),
    answers: { 200: z.object({ items: z.array(attention), next_cursor: z.null() }) },
  }),
  throughput: route({
    method: 'GET',
    path: '/v1/throughput',
    name: 'overview.throughput',
    summary: 'How many tasks ended when, and how long they waited and ran',
    description:
      'The work has a limit: where very much ended, a part of each bucket is read and counts are estimated; when the time does not suffice, the oldest buckets are missing and is_complete is false.',
    access: { role: 'viewer' },
    query: z.strictObject({
      since: time.optional().describe('default: an hour before until'),
      until: time.optional().describe('default: now'),
      buckets: z.coerce.number().int().min(1).max(200).default(60),
    }),
    answers: {
      200: z.object({
        since: time,
        until: time,
        items: z
          .array(
            z.object({
              since: time,
              until: time,
              ...counts,
              is_exact: z.boolean().describe('false: estimated'),
              wait_ms: percentiles,
              run_ms: percentiles,
            }),
          )
          .describe('the oldest first'),
        is_complete: z.boolean(),
        ...counts,
        wait_ms: percentiles.describe('from ready to start'),
        run_ms: percentiles.describe('from start to end'),
      }),
    },
  }),
}
