import { z } from 'zod'
import { route } from './route.ts'
import { time } from './shapes.ts'

const worker = z
  .object({
    id: z.int(),
    name: z.string(),
    host: z.string().nullable(),
    started_at: time,
    last_seen_at: time,
    lease_seconds: z.number(),
    is_alive: z.boolean(),
    running: z.int().describe('tasks that it performs, or has claimed to perform next'),
    queues: z.array(z.string()),
    kinds: z.array(z.string()),
  })
  .meta({ id: 'Worker' })

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
}
