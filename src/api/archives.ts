// Archives: watched repositories, their revisions, and what came of each.
import { z } from 'zod'
import { route } from './route.ts'
import { cursor, limit, pageOf, storable, time } from './shapes.ts'

const MOST_NUMBER = Number.MAX_SAFE_INTEGER - 1
const name = z.string().min(1).max(400)
const number = z.int().min(1).max(MOST_NUMBER)
const secretName = storable(z.string().min(1).max(200))

const credentials = z
  .strictObject({ username: secretName, password: secretName })
  .describe('the names of the secrets that hold the name and the password')
const url = storable(z.string().min(1).max(2000))
const folder = storable(z.string().max(1000)).describe('the folder that is the top of all paths')

const source = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('svn'), url, path: folder.optional(), credentials: credentials.optional() }),
  z.strictObject({
    type: z.literal('git'),
    url,
    branch: storable(z.string().min(1).max(250))
      .optional()
      .describe('default: the one that the repository names first'),
    path: folder.optional(),
    credentials: credentials.optional(),
  }),
  z.strictObject({ type: z.literal('push') }),
])

const revisionRef = z.object({ number: z.int(), id: z.string().nullable() })

const archive = z
  .object({
    name: z.string(),
    source,
    state: z.enum(['active', 'held', 'broken']),
    identity: z.string().nullable().describe('the UUID or the first commit; null: it has no revision yet'),
    first: z.int().describe('the first revision that is planned'),
    planned: revisionRef.describe('the last revision that was planned: one less than the first before that'),
    youngest: revisionRef.describe('the youngest revision that is known'),
    problem: z
      .object({ code: z.string(), message: z.string(), remedy: z.string().nullable(), since: z.string() })
      .nullable()
      .describe('what keeps the repository from being read or the history from being planned'),
    announced_at: time.nullable().describe('of the last notice'),
    looked_at: time.nullable().describe('when the repository was last asked'),
    created_at: time,
    created_by: z.string(),
    version: z.int(),
  })
  .meta({ id: 'Archive' })

const revisionState = z.enum(['planned', 'running', 'succeeded', 'failed', 'canceled', 'broken'])

const frontier = z
  .object({
    revisions: z
      .array(z.object({ number: z.int(), state: revisionState }))
      .describe('the last thirty, the youngest first'),
    tasks: z
      .array(
        z.object({
          name: z.string(),
          rev: z.int().nullable().describe('the newest at which it succeeded or failed; null: none of the last thirty'),
          state: z.string().nullable().describe('in which it ended there'),
          behind: z.int().nullable().describe('how many revisions that is behind the newest that has it'),
          open: z.int().describe('at how many of the last thirty it has not ended'),
        }),
      )
      .describe('COMMIT first, then as they were planned'),
    gap: z
      .object({ first: z.int(), last: z.int(), reason: z.enum(['not_announced', 'not_planned']) })
      .nullable()
      .describe('between what is planned and the youngest revision that is known'),
  })
  .meta({ id: 'ArchiveFrontier' })

const problemOfRevision = z
  .object({
    code: z.string(),
    severity: z.enum(['error', 'warning']),
    message: z.string(),
    suggestion: z.string().nullable(),
    file: z.string().nullable(),
    line: z.int().nullable(),
    column: z.int().nullable(),
  })
  .meta({ id: 'RevisionProblem' })

const summary = z.object({
  number: z.int(),
  id: z.string(),
  state: revisionState,
  author: z.string().nullable(),
  date: time.nullable(),
  message: z.string(),
  planned_at: time,
  depth: z.int().describe('how many commits made by tasks led to it'),
  cause: z.string().nullable().describe('the marker of the task that made the commit'),
  problems: z.array(problemOfRevision),
  task_count: z.int(),
})

const revisionTask = z.object({
  id: z.string(),
  key: z.string(),
  name: z.string(),
  run: z.string().nullable().describe('null: the commit’s own'),
  workflow: z.string().nullable().describe('null: COMMIT'),
  exclusive: z.boolean(),
  state: z.string(),
  started_at: time.nullable(),
  finished_at: time.nullable(),
  superseded_by: z.string().nullable(),
})

export const workflowFiles = z.array(
  z.object({ path: z.string(), text: z.string().optional(), base64: z.string().optional() }),
)

const revision = summary
  .extend({
    previous: z.int().nullable(),
    txn: z.string().nullable(),
    announced_at: time.nullable(),
    changes: z.array(z.tuple([z.string(), z.string()])).describe('action and path; a folder ends with a slash'),
    changes_cut: z.boolean(),
    files: workflowFiles.describe('the workflow files as they were'),
    previous_files: workflowFiles
      .nullable()
      .describe('those of the revision before, when they were others; null: the same, or there is none'),
    tasks: z.array(revisionTask).describe('the last 1000, in the order in which they were made'),
    tasks_cut: z.boolean().describe('there are older ones: runs by schedule and by hand have no end'),
    edges: z
      .array(
        z.object({
          from: z.string(),
          to: z.string(),
          kind: z.enum(['succeeded', 'failed', 'finished', 'cancels']),
        }),
      )
      .describe('`to` waits until `from` has succeeded, failed or finished; or cancels it'),
  })
  .meta({ id: 'Revision' })

const gap = z.object({
  first: z.int(),
  last: z.int(),
  reason: z.enum(['not_announced', 'not_planned']),
  since: time.nullable(),
})

const small = z.array(z.int())

const loom = z
  .object({
    archive: z.string(),
    planned: z.int(),
    youngest: z.int(),
    columns: z
      .array(z.object({ name: z.string(), workflow: z.string().nullable() }))
      .describe('COMMIT first, then as they wait'),
    states: z.array(z.string()).describe('what the numbers of states stand for'),
    edges: z.array(z.string()).describe('what the numbers of edges stand for'),
    rows: z.array(
      z.object({
        number: z.int(),
        id: z.string(),
        author: z.string().nullable(),
        date: time.nullable(),
        message: z.string().describe('the first line'),
        problem_count: z.int(),
        definition: z.string().describe('differs from the row below where the workflow files changed'),
        base: z.string().describe('the id of the row’s first task'),
        cells: small.describe('three numbers each: column, state, and what to add to base for the id of the task'),
        edges: small.describe('four numbers each: from column, to column, revisions back, kind'),
      }),
    ),
    gaps: z.array(gap),
    next_before: z.int().nullable().describe('to be given as `before` for the page of older ones'),
  })
  .meta({ id: 'Loom' })

const params = z.strictObject({ name })
const file = z.strictObject({
  path: z.string().regex(/^_workflows\/[^/]{1,200}\.(ya?ml|json)$/),
  text: storable(z.string().max(131_072)),
})

const notice = z.strictObject({
  rev: z
    .union([number, z.string().regex(/^[0-9a-f]{40}$/)])
    .describe('the number of the revision; of git also the commit'),
  txn: storable(z.string().max(200))
    .optional()
    .describe('the third argument of the hook of Subversion; kept, and no more'),
  author: storable(z.string().max(1000)).optional(),
  message: storable(z.string().max(100_000)).optional(),
  date: time.optional(),
  paths: z
    .array(storable(z.string().max(4000)))
    .max(10_000)
    .optional()
    .describe('what changed'),
  tasks: z.array(z.unknown()).max(1000).optional().describe('tasks as a workflow file lists them'),
  files: z.array(file).max(50).optional().describe('whole workflow files'),
})

const announced = z.object({ archive: z.string(), rev: z.union([z.int(), z.string()]), known: z.boolean() })
const submitting = { role: 'submitter', limits: ['archive'] } as const

export const archives = {
  put: route({
    method: 'PUT',
    path: '/v1/archives/{name}',
    name: 'archives.put',
    summary: 'Register an archive, or change where it is read from',
    description:
      'The repository is asked first; what cannot be read is refused. `from` says where history starts: `head` (the default) after what there is now, a number with that revision.',
    access: { role: 'admin' },
    params,
    body: z.strictObject({ source, from: z.union([z.literal('head'), number]).optional() }),
    isVersioned: true,
    answers: { 200: archive, 201: archive },
  }),
  list: route({
    method: 'GET',
    path: '/v1/archives',
    name: 'archives.list',
    summary: 'All archives by name',
    access: { role: 'viewer' },
    query: z.strictObject({
      include: z.literal('frontier').optional().describe('frontier: with how far each has got; then 100 at the most'),
      limit: limit(500, 100),
      cursor: cursor.optional(),
    }),
    answers: {
      200: pageOf(archive.extend({ frontier: frontier.optional().describe('when it was asked for') })),
    },
  }),
  get: route({
    method: 'GET',
    path: '/v1/archives/{name}',
    name: 'archives.get',
    summary: 'One archive',
    access: { role: 'viewer' },
    params,
    isVersioned: true,
    answers: { 200: archive },
  }),
  remove: route({
    method: 'DELETE',
    path: '/v1/archives/{name}',
    name: 'archives.remove',
    summary: 'Watch it no more; what was planned stays',
    access: { role: 'admin' },
    params,
    isVersioned: true,
    answers: { 204: 'empty' },
  }),
  hold: route({
    method: 'POST',
    path: '/v1/archives/{name}/hold',
    name: 'archives.hold',
    summary: 'Stop planning its revisions; tasks that were planned go on',
    access: { role: 'operator' },
    params,
    answers: { 200: archive },
  }),
  release: route({
    method: 'POST',
    path: '/v1/archives/{name}/release',
    name: 'archives.release',
    summary: 'Plan its revisions again, from the first that waits',
    access: { role: 'operator' },
    params,
    answers: { 200: archive },
  }),
  catchUp: route({
    method: 'POST',
    path: '/v1/archives/{name}/catch-up',
    name: 'archives.catch_up',
    summary: 'Look at the repository now, and say how far it is planned',
    description:
      'An archive whose history was rewritten is broken until somebody says `{"accept":"rewritten"}`: then the commits after the last one that both histories share are planned as its next revisions.',
    access: { role: 'operator' },
    params,
    body: z.strictObject({ accept: z.literal('rewritten').optional() }).optional(),
    answers: { 200: archive },
  }),
  commit: route({
    method: 'POST',
    path: '/v1/archives/{name}/commits',
    name: 'archives.commit',
    summary: 'Announce a revision: the notice of a post-commit hook',
    description:
      'Stored at once; the repository is not asked. Notices may come in any order, twice, or never. An archive of type push takes what the revision holds from here.',
    access: submitting,
    params,
    body: notice,
    bodyLimit: 8 * 1024 * 1024,
    answers: { 200: announced, 202: announced },
  }),
  announce: route({
    method: 'PUT',
    path: '/v1/archives/{name}/revisions/{rev}',
    name: 'archives.announce',
    summary: 'Announce a revision by its number',
    access: submitting,
    params: z.strictObject({ name, rev: z.coerce.number().int().min(1).max(MOST_NUMBER) }),
    answers: { 200: announced, 202: announced },
  }),
  revisions: route({
    method: 'GET',
    path: '/v1/archives/{name}/revisions',
    name: 'archives.revisions',
    summary: 'Revisions that were planned, the youngest first',
    access: { role: 'viewer' },
    params,
    query: z.strictObject({ limit: limit(200, 50), cursor: cursor.optional() }),
    answers: { 200: pageOf(summary.meta({ id: 'RevisionSummary' })) },
  }),
  revision: route({
    method: 'GET',
    path: '/v1/archives/{name}/revisions/{rev}',
    name: 'archives.revision',
    summary: 'One revision with its tasks and what they wait for',
    access: { role: 'viewer' },
    params: z.strictObject({ name, rev: z.coerce.number().int().min(0).max(MOST_NUMBER) }),
    answers: { 200: revision },
  }),
  gaps: route({
    method: 'GET',
    path: '/v1/archives/{name}/gaps',
    name: 'archives.gaps',
    summary: 'Revisions that are known or missing, and not planned',
    access: { role: 'viewer' },
    params,
    answers: { 200: z.object({ planned: z.int(), youngest: z.int(), items: z.array(gap) }) },
  }),
  loom: route({
    method: 'GET',
    path: '/v1/archives/{name}/loom',
    name: 'archives.loom',
    summary: 'Revisions by tasks, in small numbers',
    access: { role: 'viewer' },
    params,
    query: z.strictObject({
      before: z.coerce.number().int().min(1).max(MOST_NUMBER).optional().describe('only revisions below this one'),
      limit: limit(200, 100),
    }),
    answers: { 200: loom },
  }),
}
