// Runs of archives that no commit starts: by hand, by schedule, and again.
import { z } from 'zod'
import { route } from './route.ts'
import { cursor, id, limit, pageOf, storable, time, verbatim } from './shapes.ts'

const archive = storable(z.string().min(1).max(1000))
const name = storable(z.string().min(1).max(100))
const text = storable(z.string().max(10_000))
const number = z.int().min(1).max(Number.MAX_SAFE_INTEGER)
const commit = storable(z.string().min(1).max(200))

const planned = z
  .object({
    archive: z.string(),
    rev: z.int(),
    run: z.string().describe('tells the runs of a revision apart: it stands behind the # of a key'),
    tasks: z.array(z.object({ id, key: z.string().describe('My-Project@12:index#7') })),
  })
  .meta({ id: 'PlannedRun' })

const newRun = z
  .strictObject({
    workflow: name.optional().describe('all tasks of this workflow'),
    task: name.optional().describe('this one task, of whichever workflow'),
    rev: z.union([number, commit]).optional().describe('a number or a commit; default: the newest that was planned'),
    inputs: verbatim(name, text).optional().describe('values of the inputs that the workflow declares'),
  })
  .refine((given) => (given.workflow === undefined) !== (given.task === undefined), {
    message: 'name a workflow or a task, and not both',
    path: ['workflow'],
  })

export const runs = {
  create: route({
    method: 'POST',
    path: '/v1/archives/{name}/runs',
    name: 'runs.create',
    summary: 'Run a workflow or a task by hand, at a revision that was planned',
    access: { role: 'submitter' },
    params: z.strictObject({ name: archive }),
    body: newRun,
    isCreating: true,
    answers: { 201: planned },
  }),
  rerun: route({
    method: 'POST',
    path: '/v1/archives/{name}/revisions/{rev}/rerun',
    name: 'runs.rerun',
    summary: 'Ask again for tasks of a revision: what failed, or all that are over',
    description:
      'What has not ended goes on as it is, and later revisions are not run again. With dry_run=1 nothing is done, and the number is not compared.',
    access: { role: 'operator' },
    params: z.strictObject({ name: archive, rev: commit.describe('a number or a commit') }),
    query: z.strictObject({ dry_run: z.enum(['0', '1']).default('0') }),
    body: z.strictObject({
      only: z.enum(['failed', 'all']).describe('failed: with what was skipped because of it'),
      run: name.optional().describe('of a run by hand or schedule; default: what the commit started'),
      cause: text.optional().describe('why, for the record'),
      expected_count: z
        .int()
        .min(0)
        .max(1_000_000)
        .optional()
        .describe('how many the caller has seen; with another number 409 count_differs, and nothing is done'),
    }),
    answers: { 200: z.object({ tasks: z.array(z.object({ id, key: z.string() })) }) },
  }),
}

const outcome = z.enum(['planned', 'skipped', 'refused'])
const tick = z.object({
  at: time.describe('when it was to run'),
  outcome,
  run: z.string().nullable(),
  rev: z.int().nullable(),
  reason: z.string().nullable().describe('why it did not run'),
})

const schedule = z
  .object({
    id,
    archive: z.string(),
    workflow: z.string(),
    cron: z.string(),
    timezone: z.string(),
    words: z.string().describe('what the expression means: At 03:00, Monday through Friday'),
    next: z.array(time).describe('the next five times; none while it is paused'),
    overlap: z.enum(['skip', 'allow']),
    state: z.enum(['active', 'paused', 'broken']).describe('broken: the newest workflow files have errors'),
    next_at: time.nullable().describe('null: it is paused, or never comes again'),
    paused_at: time.nullable(),
    paused_by: z.string().nullable(),
    problem: z.string().nullable(),
    last: tick.nullable(),
  })
  .meta({ id: 'Schedule' })

const page = z.strictObject({ limit: limit(500, 100), cursor: cursor.optional() })
const params = z.strictObject({ id })

export const schedules = {
  list: route({
    method: 'GET',
    path: '/v1/schedules',
    name: 'schedules.list',
    summary: 'Schedules of all archives',
    access: { role: 'viewer' },
    query: page,
    answers: { 200: pageOf(schedule) },
  }),
  listOf: route({
    method: 'GET',
    path: '/v1/archives/{name}/schedules',
    name: 'schedules.list_of',
    summary: 'Schedules of one archive: those of its newest workflow files',
    access: { role: 'viewer' },
    params: z.strictObject({ name: archive }),
    query: page,
    answers: { 200: pageOf(schedule) },
  }),
  get: route({
    method: 'GET',
    path: '/v1/schedules/{id}',
    name: 'schedules.get',
    summary: 'One schedule, when it comes next and what came of the last times',
    access: { role: 'viewer' },
    params,
    query: z.strictObject({
      count: z.coerce.number().int().min(0).max(100).default(5).describe('how many next times'),
    }),
    answers: {
      200: schedule.extend({
        next: z.array(time),
        ticks: z.array(
          tick.extend({
            taken_at: time,
            missed_since: time.nullable().describe('the first of several times that nobody took: they became this one'),
            actor: z.string().nullable().describe('who asked for it by hand'),
          }),
        ),
      }),
    },
  }),
  pause: route({
    method: 'POST',
    path: '/v1/schedules/{id}/pause',
    name: 'schedules.pause',
    summary: 'Keep a schedule from running; what passes meanwhile is not made up for',
    access: { role: 'operator' },
    params,
    answers: { 200: schedule },
  }),
  resume: route({
    method: 'POST',
    path: '/v1/schedules/{id}/resume',
    name: 'schedules.resume',
    summary: 'Let a paused schedule go on',
    access: { role: 'operator' },
    params,
    answers: { 200: schedule },
  }),
  run: route({
    method: 'POST',
    path: '/v1/schedules/{id}/run',
    name: 'schedules.run',
    summary: 'Run the workflow of a schedule now, paused or not',
    access: { role: 'operator' },
    params,
    isCreating: true,
    answers: { 201: planned },
  }),
}
