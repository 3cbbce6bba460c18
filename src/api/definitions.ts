// Workflow files at a revision, and what the next commit would make of them.
import { z } from 'zod'
import { workflowFiles } from './archives.ts'
import { route } from './route.ts'
import { storable, time } from './shapes.ts'

const name = z.string().min(1).max(400)
const rev = z
  .string()
  .regex(/^(\d{1,15}|[0-9a-f]{40})$/, 'must be the number of a revision or the id of a commit')
  .optional()
  .describe('a planned revision, by its number or commit; default: the newest')

const place = {
  file: z.string(),
  line: z.int().describe('counted from 1'),
  column: z.int().describe('counted from 1, in UTF-16 units'),
  end_line: z.int(),
  end_column: z.int().describe('the first place after'),
}

const finding = z
  .object({
    code: z.string(),
    severity: z.enum(['error', 'warning']),
    ...place,
    message: z.string(),
    suggestion: z.string().nullable(),
    related: z.array(z.object({ ...place, message: z.string() })),
  })
  .meta({ id: 'WorkflowFinding' })

const graph = z
  .object({
    nodes: z.array(
      z.object({
        id: z.string(),
        label: z.string(),
        kind: z.enum(['commit', 'task', 'earlier']).describe('earlier: of an earlier revision'),
      }),
    ),
    edges: z.array(
      z.object({
        from: z.string().describe('what is waited for, or who cancels'),
        to: z.string().describe('who waits, or what is canceled'),
        kind: z.enum(['depends', 'cancels']),
        when: z.string().nullable().describe('where it is not what a reader expects'),
      }),
    ),
  })
  .meta({ id: 'WorkflowGraph' })

const schedule = z.object({
  workflow: z.string(),
  cron: z.string(),
  timezone: z.string(),
  words: z.string().describe('what the expression means'),
  next: z.array(time).describe('the next five times'),
})

const requirement = z.object({
  key: z.string(),
  when: z.enum(['succeeded', 'failed', 'finished']),
  because: z
    .enum(['implicit', 'written', 'absent', 'exclusive'])
    .describe('it is part of every plan, was written, stands in for an absent task, or both are exclusive'),
  instead_of: z.string().nullable().describe('the absent task'),
})

const params = z.strictObject({ name })

export const definitions = {
  get: route({
    method: 'GET',
    path: '/v1/archives/{name}/definition',
    name: 'archives.definition',
    summary: 'The workflow files at a revision, what is wrong with them and what they mean',
    access: { role: 'viewer' },
    params,
    query: z.strictObject({ rev }),
    answers: {
      200: z.object({
        archive: z.string(),
        rev: z.int(),
        hash: z.string().describe('the same for the same files'),
        files: workflowFiles,
        problems: z.array(finding),
        workflows: z
          .array(
            z.object({
              name: z.string(),
              file: z.string(),
              is_on_commit: z.boolean(),
              inputs: z.array(
                z.object({
                  name: z.string(),
                  default: z.string().nullable(),
                  description: z.string().nullable(),
                  is_required: z.boolean(),
                  options: z.array(z.string()).nullable(),
                }),
              ),
              tasks: z.array(z.string()).describe('their names'),
            }),
          )
          .describe('none when there are errors'),
        graph: graph.nullable().describe('null: there are errors'),
        schedules: z.array(schedule),
      }),
    },
  }),
  plan: route({
    method: 'GET',
    path: '/v1/archives/{name}/plan',
    name: 'archives.plan',
    summary: 'What the next commit would add, were its workflow files those of a revision',
    description:
      'After all that is planned: what it would wait for and cancel are the tasks that there are. Nothing is added. Of what the commit changes nothing is known unless `path` says it, so tasks with a filter of paths are absent.',
    access: { role: 'viewer' },
    params,
    query: z.strictObject({
      rev,
      author: storable(z.string().max(1000)).optional(),
      message: storable(z.string().max(10_000)).optional(),
      path: z
        .union([storable(z.string().min(1).max(4000)), z.array(storable(z.string().min(1).max(4000))).max(100)])
        .transform((given) => [given].flat())
        .optional()
        .describe('a path that the commit changes; the parameter may be given several times'),
    }),
    answers: {
      200: z.object({
        archive: z.string(),
        of: z.int().describe('the revision whose files it goes by'),
        rev: z.int().describe('the number that the next revision gets'),
        tasks: z.array(
          z.object({
            name: z.string(),
            key: z.string(),
            workflow: z.string().nullable().describe('null: COMMIT'),
            queue: z.string().nullable(),
            image: z.string().nullable(),
            is_exclusive: z.boolean(),
            requires: z.array(requirement),
            cancels: z.array(z.string()).describe('keys of unfinished tasks that it would cancel'),
          }),
        ),
        absent: z.array(
          z.object({
            name: z.string(),
            workflow: z.string(),
            reason: z.enum([
              'skip_marker',
              'other_trigger',
              'not_chosen',
              'paths',
              'author',
              'condition',
              'cannot_fail',
            ]),
          }),
        ),
        notation: z.string().describe('as `millrace workflow plan` prints it: <-- waits for, <!= cancels'),
        graph,
        problems: z.array(finding),
        schedules: z.array(schedule),
      }),
    },
  }),
}
