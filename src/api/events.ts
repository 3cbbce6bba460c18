// What happens to tasks, as it happens.
import { z } from 'zod'
import { route } from './route.ts'
import { id, limit, storable, time } from './shapes.ts'
import { taskStates } from './tasks.ts'

const state = z.enum(taskStates)

/** Where an event stands in the line of all events. */
const position = z.string().regex(/^\d{1,18}$/, 'is not a position in the line of events')

export const event = z
  .object({
    id: position.describe('its place in the line of all events; later ones are higher'),
    at: time,
    name: z.string().describe('what happened, in the past tense; names with a dot are of applications'),
    task: id.nullable().describe('null: it is about no task'),
    scope: z.string(),
    key: z.string().nullable(),
    kind: z.string().nullable(),
    queue: z.string().nullable(),
    from: state.nullable().describe('the state before; null where it did not change'),
    to: state.nullable(),
    cause: z.string().nullable(),
    culprit: id.nullable().describe('the task that brought it about'),
    actor: z.string().nullable().describe('the person or program that brought it about'),
    dispatcher: z.int().nullable().describe('the number of the dispatcher that claimed or finished it'),
    detail: z.unknown().describe('an error, a time, or whatever an application gave'),
  })
  .meta({ id: 'Event' })

const MOST = 50

/** One, several separated by commas, or the parameter several times. */
const several = (what: string) =>
  z
    .union([storable(z.string().min(1).max(5000)), z.array(storable(z.string().min(1).max(5000))).max(MOST)])
    .transform((given) => [...new Set([given].flat().flatMap((text) => text.split(',')))].filter((text) => text !== ''))
    .refine((list) => list.length > 0 && list.length <= MOST, { message: `names none, or more than ${MOST}` })
    .optional()
    .describe(`${what}; several separated by commas, or the parameter several times`)

export const eventQuery = z.strictObject({
  scope: several('only of this scope; one that ends in * takes all that begin so'),
  task: several('only of this task, by its number or natural key'),
  topics: several('only events of this name'),
  after: z
    .union([position, z.literal('oldest'), z.literal('newest')])
    .optional()
    .describe(
      'the id of the last event that is known already; oldest: begin with the oldest that is kept; newest: begin now',
    ),
})

export const events = {
  stream: route({
    method: 'GET',
    path: '/v1/events',
    name: 'events.stream',
    summary: 'Subscribe to events (SSE), or read a page of them (JSON)',
    description:
      'As text/event-stream, unless the Accept header names application/json and not that. The stream begins with `hello`, which carries the position; events have no event field, so that `onmessage` gets them all; `reset` says that events were missed; `bye` that the server stops. `Last-Event-ID` goes before `after`. Without either a stream begins now and a page with the oldest event that is kept. The same events are had over a WebSocket at `/v1/ws`, with messages to subscribe and unsubscribe: see docs/guides/events.md.',
    access: { role: 'viewer', limits: ['node', 'task'] },
    query: eventQuery.extend({ limit: limit(1000, 100) }),
    answers: {
      200: [
        z.object({
          items: z.array(event),
          next_cursor: position.nullable().describe('for `after`; null: there are no more just now'),
          position: position.describe('up to here has been looked: for `after`, later on'),
        }),
        'text/event-stream',
      ],
    },
  }),
}
