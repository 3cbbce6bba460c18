// Tasks of every part, as the server shows them.
import { z } from 'zod'
import { route } from './route.ts'
import { cursor, id, limit, pageOf, storable, time } from './shapes.ts'

export const taskStates = [
  'waiting',
  'delayed',
  'ready',
  'running',
  'held',
  'succeeded',
  'failed',
  'canceled',
  'skipped',
] as const
const state = z.enum(taskStates)

/** A number, or a natural key: `My-Project@12:index`, or `scope/key`. */
export const taskRef = storable(z.string().min(1).max(1000)).describe(
  'the number of the task, or its natural key: My-Project@12:index, or scope/key with the slash encoded',
)
const params = z.strictObject({ id: taskRef })

const neighbour = z.object({
  id,
  kind: z.string().nullable(),
  scope: z.string(),
  key: z.string().nullable(),
  state,
  when: z.enum(['succeeded', 'failed', 'finished']).describe('what of the prerequisite is waited for'),
})

export const taskSummary = z
  .object({
    id,
    kind: z.string().nullable().describe('null: a milestone'),
    queue: z.string().nullable(),
    scope: z.string(),
    key: z.string().nullable(),
    state,
    priority: z.int(),
    created_at: time,
    started_at: time.nullable(),
    finished_at: time.nullable(),
  })
  .meta({ id: 'TaskSummary' })

const attempt = z.object({
  number: z.int().describe('under which its output is found'),
  started_at: time.nullable(),
  ended_at: time.nullable(),
  outcome: z.string().nullable().describe('null: it is under way'),
  worker: z.string().nullable(),
  error: z.unknown().nullable(),
})

export const task = taskSummary
  .extend({
    ready_at: time.nullable(),
    not_before: time.nullable(),
    payload: z.unknown(),
    output: z.unknown().nullable(),
    error: z.unknown().nullable(),
    creator: id.nullable().describe('the task that added it'),
    created_by: z.string().nullable().describe('the person or program that added it'),
    is_canceling: z.boolean().describe('it runs and was asked to stop'),
    cause: z.string().nullable(),
    superseded_by: id.nullable(),
    held_by: z.string().nullable(),
    failures: z.int(),
    deaths: z.int(),
    max_attempts: z.int(),
    worker: z.string().nullable(),
    unmet: z.int().describe('requirements that are not met yet'),
    requirements: z.array(neighbour.extend({ is_met: z.boolean() })).describe('the first 100'),
    dependents: z.array(neighbour).describe('the first 100'),
    attempts: z.array(attempt).describe('the last 100'),
    why: z.string().describe('why it is in its state, in one sentence'),
    culprits: z.array(id).describe('the tasks that stand in the way, or stood'),
  })
  .meta({ id: 'Task' })

const historyEntry = z.object({
  at: time,
  name: z.string(),
  from: state.nullable(),
  to: state.nullable(),
  cause: z.string().nullable(),
  culprit: id.nullable(),
  actor: z.string().nullable(),
  worker: z.string().nullable(),
  error: z.unknown().nullable(),
})

const reason = z.strictObject({
  cause: storable(z.string().max(1000)).optional().describe('why, for the record'),
})
const acted = z.object({ id, state })

const action = <const N extends string>(name: N, summary: string) =>
  route({
    method: 'POST',
    path: `/v1/tasks/{id}/${name}`,
    name: `tasks.${name}`,
    summary,
    access: { role: 'operator' },
    params,
    body: reason.optional(),
    answers: { 200: acted },
  })

const bulk = <const N extends string>(name: N, summary: string) =>
  route({
    method: 'POST',
    path: `/v1/tasks/${name}`,
    name: `tasks.${name}_many`,
    summary,
    description:
      'Of the tasks that the search finds those whose state allows it. They must be as many as expected_count says, else 409 count_differs and nothing is done; at most 10,000. Each is done or refused by itself. With dry_run=1 nothing is done, and the number is not compared.',
    access: { role: 'operator' },
    query: z.strictObject({ dry_run: z.enum(['0', '1']).default('0') }),
    body: reason.extend({
      q: storable(z.string().max(1000)).optional().describe('as in the list of tasks'),
      state: z.array(state).max(taskStates.length).optional(),
      scope: storable(z.string().min(1).max(1000)).optional().describe('one that ends in * takes all that begin so'),
      kind: storable(z.string().min(1).max(1000)).optional(),
      queue: storable(z.string().min(1).max(1000)).optional(),
      expected_count: z.int().min(0).max(1_000_000),
    }),
    answers: {
      200: z.object({
        count: z.int().describe('how many were found in a state that allows it'),
        items: z.array(taskSummary).describe('the first 100 of them, as they were before'),
        acted: z.int(),
        refused_count: z.int(),
        refused: z
          .array(z.object({ id, message: z.string() }))
          .describe('the first 100 whose state was another by the time'),
      }),
    },
  })

export const tasks = {
  retryMany: bulk('retry', 'Retry all tasks that a search finds'),
  rerunMany: bulk('rerun', 'Run all tasks again that a search finds'),
  cancelMany: bulk('cancel', 'Cancel all tasks that a search finds'),
  holdMany: bulk('hold', 'Hold all tasks that a search finds'),
  releaseMany: bulk('release', 'Release all tasks that a search finds'),
  skipMany: bulk('skip', 'Skip all tasks that a search finds'),
  typical: route({
    method: 'GET',
    path: '/v1/tasks/{id}/typical',
    name: 'tasks.typical',
    summary: 'How long tasks like this one usually take',
    description:
      'From up to 50 of the last successes of the same kind and scope, and of the same name where keys are number:name.',
    access: { role: 'viewer', limits: ['task'] },
    params,
    answers: {
      200: z.object({
        id,
        count: z.int().describe('how many it is taken from; 0: too few have succeeded'),
        p10_ms: z.int().nullable(),
        median_ms: z.int().nullable(),
        p90_ms: z.int().nullable(),
      }),
    },
  }),
  list: route({
    method: 'GET',
    path: '/v1/tasks',
    name: 'tasks.list',
    summary: 'Tasks of every part, newest first',
    access: { role: 'viewer' },
    query: z.strictObject({
      state: z
        .string()
        .transform((text) => text.split(','))
        .pipe(z.array(state).max(taskStates.length))
        .optional()
        .describe('one state or several, separated by commas'),
      scope: storable(z.string().min(1).max(1000))
        .optional()
        .describe('a scope; one that ends in * takes all that begin so'),
      kind: storable(z.string().min(1).max(1000)).optional(),
      queue: storable(z.string().min(1).max(1000)).optional(),
      q: storable(z.string().max(1000)).optional().describe('words and qualifiers: state:failed kind:x archive'),
      limit: limit(500, 50),
      cursor: cursor.optional(),
    }),
    answers: { 200: pageOf(taskSummary) },
  }),
  counts: route({
    method: 'GET',
    path: '/v1/task-counts',
    name: 'tasks.counts',
    summary: 'How many tasks are in each state, counted where that is cheap and else estimated',
    access: { role: 'viewer' },
    answers: {
      200: z.object({
        states: z.record(state, z.object({ count: z.int(), is_exact: z.boolean() })),
      }),
    },
  }),
  get: route({
    method: 'GET',
    path: '/v1/tasks/{id}',
    name: 'tasks.get',
    summary: 'One task, with its neighbours, its attempts and why it stands where it stands',
    access: { role: 'viewer', limits: ['task'] },
    params,
    answers: { 200: task },
  }),
  why: route({
    method: 'GET',
    path: '/v1/tasks/{id}/why',
    name: 'tasks.why',
    summary: 'Why a task is in its state, in one sentence',
    access: { role: 'viewer', limits: ['task'] },
    params,
    answers: { 200: z.object({ id, state, why: z.string(), culprits: z.array(id) }) },
  }),
  events: route({
    method: 'GET',
    path: '/v1/tasks/{id}/events',
    name: 'tasks.events',
    summary: 'The story of a task',
    access: { role: 'viewer', limits: ['task'] },
    params,
    answers: { 200: z.object({ items: z.array(historyEntry), next_cursor: z.null() }) },
  }),
  log: route({
    method: 'GET',
    path: '/v1/tasks/{id}/log',
    name: 'tasks.log',
    summary: 'The output of a task, a part of it, or live as it comes',
    description:
      'Answers the bytes as they were written. `X-Next-Start` says where the next part begins, `X-Complete` whether there will be more. With follow=1 the answer goes on until the attempt, or the token, has ended; a server lets 200 follow at once.',
    access: { role: 'viewer', limits: ['task'] },
    params,
    query: z.strictObject({
      attempt: z.coerce.number().int().min(1).max(2_147_483_647).optional().describe('default: the last one'),
      stream: z.enum(['mixed', 'stdout', 'stderr']).default('mixed'),
      start: z.coerce.number().int().min(0).max(Number.MAX_SAFE_INTEGER).default(0),
      limit: z.coerce.number().int().min(1).max(16_777_216).default(1_048_576),
      follow: z.enum(['0', '1']).default('0'),
    }),
    answers: { 200: 'application/octet-stream' },
  }),
  cancel: action('cancel', 'Cancel: what does not run ends at once, what runs is stopped'),
  retry: action('retry', 'Ask again for what failed, was canceled or skipped'),
  rerun: action('rerun', 'Run again what succeeded, and then what needs it'),
  hold: action('hold', 'Keep a task that has not started from starting'),
  release: action('release', 'Let a held task go on'),
  prioritize: route({
    method: 'POST',
    path: '/v1/tasks/{id}/prioritize',
    name: 'tasks.prioritize',
    summary: 'Give a task that has not started another priority; lower comes first',
    access: { role: 'operator' },
    params,
    body: reason.extend({ priority: z.int().min(-2_147_483_647).max(2_147_483_647) }),
    answers: { 200: acted.extend({ priority: z.int() }) },
  }),
  skip: action('skip', 'Skip a task that has not started, and what needs its success'),
}
