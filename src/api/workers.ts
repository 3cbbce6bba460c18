import { z } from 'zod'
import { route } from './route.ts'
import { id, time } from './shapes.ts'

const worker = z
  .object({
    id: z.int(),
    name: z.string(),
    host: z.string().nullable(),
    process: z.int().nullable().describe('the number of its process there'),
    version: z.string().nullable(),
    started_at: time,
    last_seen_at: time,
    heartbeat_age_ms: z.int().describe('by the clock of the database'),
    stopped_at: time.nullable().describe('null: it lives, or it died'),
    lease_seconds: z.number(),
    is_alive: z.boolean(),
    wanted: z.enum(['running', 'paused', 'draining']).describe('what was asked of it'),
    wanted_at: time.nullable(),
    wanted_by: z.string().nullable(),
    running: z.int().describe('tasks that it performs, or has claimed to perform next'),
    slots: z.int().nullable().describe('how many it performs at once; null: it does not say'),
    queues: z.array(z.string()),
    kinds: z.array(z.string()),
    tasks: z
      .array(
        z.object({
          id,
          kind: z.string().nullable(),
          scope: z.string(),
          key: z.string().nullable(),
          started_at: time.nullable(),
        }),
      )
      .describe('the first 20 of those that it performs'),
  })
  .meta({ id: 'Worker' })

const wanting = <const N extends string>(name: N, summary: string) =>
  route({
    method: 'POST',
    path: `/v1/workers/{id}/${name}`,
    name: `workers.${name}`,
    summary,
    description: 'It is written down at once, and the worker finds it within a second.',
    access: { role: 'operator' },
    params: z.strictObject({
      id: z
        .string()
        .regex(/^[1-9]\d{0,8}$/, 'must be a number')
        .transform(Number),
    }),
    answers: { 200: worker },
  })

export const workers = {
  list: route({
    method: 'GET',
    path: '/v1/workers',
    name: 'workers.list',
    summary: 'Who performs tasks, the newest first',
    access: { role: 'viewer' },
    query: z.strictObject({
      all: z.enum(['0', '1']).default('0').describe('1: also those that have stopped or died'),
    }),
    answers: { 200: z.object({ items: z.array(worker), next_cursor: z.null() }) },
  }),
  pause: wanting('pause', 'Have a worker take no more tasks until it is resumed; what it performs goes on'),
  drain: wanting(
    'drain',
    'Have a worker take no more tasks; a process that is nothing else ends when it has none left',
  ),
  resume: wanting('resume', 'Have a worker take tasks again'),
}
