// The output of a task by lines.
import { z } from 'zod'
import { route } from './route.ts'
import { limit, storable, time } from './shapes.ts'
import { taskRef } from './tasks.ts'

const params = z.strictObject({ id: taskRef })
const MOST_LINE = 2_147_483_647
const attempt = z.coerce.number().int().min(1).max(MOST_LINE).optional().describe('default: the last one')
const stream = z.enum(['mixed', 'stdout', 'stderr']).default('mixed')
const flag = z
  .enum(['0', '1'])
  .default('0')
  .transform((value) => value === '1')

const line = z
  .object({
    number: z.int().describe('the first line is 1'),
    start: z.int().describe('offset of its first byte in the stream that was asked for'),
    length: z.int().describe('in bytes, without its line feed'),
    stream: z.enum(['stdout', 'stderr', 'both', 'mark']).describe('mark: written by Millrace itself'),
    at: time.describe('when its beginning was stored: about a tenth of a second after it was written'),
    text: z.string().describe('the first 16 KiB; what is no UTF-8 is U+FFFD'),
    is_cut: z.boolean().describe('there is more of it: read it by its offset from …/log?start='),
    is_open: z.boolean().describe('it has no line feed, so far'),
  })
  .meta({ id: 'LogLine' })

const stored = {
  attempt: z.int().describe('0: there was none yet'),
  total_lines: z.int().describe('so far'),
  is_complete: z.boolean().describe('the attempt has ended: no more will come'),
}

export const taskLog = {
  lines: route({
    method: 'GET',
    path: '/v1/tasks/{id}/log/lines',
    name: 'tasks.log_lines',
    summary: 'Lines of the output of a task, from any line on',
    description:
      'A page costs the same wherever it begins. It ends after `limit` lines or about a megabyte. While the attempt runs, ask again from `next_line`, or from the last line when it is open: it may have grown.',
    access: { role: 'viewer', limits: ['task'] },
    params,
    query: z.strictObject({
      attempt,
      stream,
      from_line: z.coerce
        .number()
        .int()
        .min(-5000)
        .max(MOST_LINE)
        .default(1)
        .describe('the number of the first line; -100: the last hundred'),
      limit: limit(5000, 500),
    }),
    answers: {
      200: z.object({
        ...stored,
        total_bytes: z.int(),
        items: z.array(line),
        next_line: z.int().nullable().describe('where to go on; null: nothing more is stored at present'),
        first_error_line: z
          .int()
          .nullable()
          .describe('the first line that looks like an error: a guess by its words; null: none does'),
      }),
    },
  }),
  search: route({
    method: 'GET',
    path: '/v1/tasks/{id}/log/search',
    name: 'tasks.search_log',
    summary: 'Lines of the output of a task in which a text or a pattern is found',
    description:
      'A request looks through 16 MiB, or for a quarter of a second, or until it has found `limit` lines; go on from `next_line` until it is null. Patterns are of RE2.',
    access: { role: 'viewer', limits: ['task'] },
    params,
    query: z.strictObject({
      q: storable(z.string().min(1).max(1000)),
      regex: flag.describe('1: q is a pattern of RE2, of 200 characters at most'),
      case: flag.describe('1: capital and small letters differ'),
      attempt,
      stream,
      from_line: z.coerce.number().int().min(1).max(MOST_LINE).default(1),
      limit: limit(1000, 100),
    }),
    answers: {
      200: z.object({
        ...stored,
        items: z.array(
          line.extend({
            text: z.string().describe('the first 4096 characters'),
            ranges: z
              .array(z.tuple([z.int(), z.int()]))
              .describe(
                'begin and end of each match in the line, in UTF-16 units; the first hundred, fewer when the time is over',
              ),
          }),
        ),
        next_line: z.int().nullable().describe('where to go on; null: all that is stored was searched'),
        cut_lines: z.int().describe('lines that were searched in their beginning only: 64 KiB, by a pattern 16 KiB'),
      }),
    },
  }),
}
