// The tree of tasks: nodes, their data, and the scheduler.
import { z } from 'zod'
import { route } from './route.ts'
import { commaList, id, idOrZero, limit, storable, time, verbatim } from './shapes.ts'

export const nodeTypes = ['command', 'shell command', 'condition', 'if', 'sleep'] as const
export const nodeStates = ['incipient', 'running', 'killing', 'finished', 'failed', 'killed', 'skipped'] as const
/** Of each node, beside its data. */
export const nodeMetadata = [
  'id',
  'type',
  'parent',
  'state',
  'run_if',
  'branch',
  'created_at',
  'started_at',
  'finished_at',
  'task',
] as const

/** Of each node in a list, when it is asked for: it costs a look at the node's data and at its children. */
const nodeDetails = ['summary', 'result', 'children'] as const

const type = z.enum(nodeTypes)
const state = z.enum(nodeStates)
const runIf = z.enum(['success', 'failure', 'always'])
const branch = z.enum(['then', 'else'])
const parent = z.union([z.literal('root'), id])

const metadata = z
  .object({
    id,
    type,
    parent: parent.describe('root, or the id of the node that must end first'),
    state,
    run_if: runIf.describe('what of the parent it waits for'),
    branch: branch.nullable().describe('below an `if`: with which of its outcomes it runs'),
    created_at: time,
    started_at: time.nullable(),
    finished_at: time.nullable(),
    task: id.describe('its task, for /v1/tasks'),
  })
  .meta({ id: 'NodeMetadata' })

const data = z.record(z.string(), z.unknown())

export const node = z
  .object({
    id,
    metadata,
    data: data.describe('what was given, and after the start what came of it; without what is listed in `omitted`'),
    omitted: z.array(z.string()).optional().describe('keys whose values are too large to be shown here'),
  })
  .meta({ id: 'Node' })

const pagination = z
  .object({
    next: z.string().describe('to be sent as `start`'),
    pid: z.string().describe('to be sent along with `start`'),
  })
  .meta({ id: 'Pagination' })

const row = metadata.partial().extend({
  id,
  summary: z.string().optional().describe('what it does, in a line of at most 200 characters'),
  result: z.int().nullable().optional().describe('the exit code; null: none yet, or none at all'),
  children: z.int().optional().describe('how many are right below it; 1000 stands for that many or more'),
})
const nodeList = z.union([z.array(row), z.object({ nodes: z.array(row), pagination })])

const key = storable(z.string().min(1).max(200))
const params = z.strictObject({ id })
const dataParams = z.strictObject({ id, key })
const token = z.string().min(1).max(200)
const pid = {
  pid: token.optional().describe('the pid that came with the `next` that is sent as `start`'),
  pagid: token.optional().describe('another name for pid'),
}
const oneOf = <T extends z.ZodType<string, string>>(of: T, what: string) =>
  z
    .string()
    .transform((text) => text.split(','))
    .pipe(z.array(of).max(20))
    .describe(`${what}, or several, separated by commas`)
const ids = commaList('ids of nodes', 1000).pipe(z.array(id).min(1))
const manyIds = z
  .array(id)
  .min(1)
  .max(10_000)
  .transform((list) => [...new Set(list)])
  .describe('ids of nodes')

const dataGiven = verbatim(key).describe(
  'command, args, cwd, env, timeout, umask, limits, image, mounts, network, memory, cpus, file, time, interval, seconds, run_if, branch, rerun_if_lost mean something to the server; all others are your own',
)

const A_PARENT = 'must be root, the id of a node, or #N for the N-th node of this request, counted from 0'

export const newNode = z.strictObject({
  metadata: z.strictObject({
    type,
    parent: z
      .union([z.literal('root'), id, z.string().regex(/^#(0|[1-9]\d{0,4})$/, A_PARENT)], { error: A_PARENT })
      .describe('root, the id of a node, or #N: an earlier node of this request, the first being #0'),
    run_if: runIf.optional(),
    branch: branch.optional(),
  }),
  data: dataGiven.optional(),
})

const nodeChange = z.strictObject({
  metadata: z
    .strictObject({
      type: type.optional(),
      parent: parent.optional(),
      run_if: runIf.optional(),
      branch: branch.optional(),
    })
    .optional(),
  data: dataGiven.optional().describe('values to set; null removes a key'),
})

const stateOfNode = z.object({ id, state })
const statesOfNodes = z.object({ nodes: z.array(stateOfNode) })

const viewer = { role: 'viewer', limits: ['node'] } as const
const submitter = { role: 'submitter', limits: ['node'] } as const
const operator = { role: 'operator', limits: ['node'] } as const

export const nodes = {
  list: route({
    method: 'GET',
    path: '/v1/nodes',
    name: 'nodes.list',
    summary: 'Nodes, oldest first unless asked otherwise; with `new`, as soon as there are newer ones',
    description:
      'Answers an array. When more follow than fit, answers an object with `nodes` and `pagination`, and the next page also as a Link header. With `new` and none newer, waits up to a minute for one and then answers an empty array.',
    access: viewer,
    query: z.strictObject({
      type: oneOf(type, 'a type').optional(),
      state: oneOf(state, 'a state').optional(),
      parent: parent.optional().describe('only the children of this node, or root'),
      order: z.enum(['oldest', 'newest']).default('oldest').describe('which come first'),
      up: id
        .optional()
        .describe('only this node and those that it is below, itself first; answers an array of at most `limit`'),
      down: id
        .optional()
        .describe('only this node and those below it, itself first, level by level; an array of at most `limit`'),
      metadata: oneOf(
        z.enum([...nodeMetadata, ...nodeDetails]),
        'what to tell of each node beside its id; summary, result and children only when they are named',
      ).optional(),
      new: idOrZero('must be the id of a node, or 0')
        .optional()
        .describe('only nodes newer than this one; waits for one'),
      start: token.optional().describe('the `next` of the page before'),
      ...pid,
      limit: limit(10_000, 1000),
    }),
    answers: { 200: nodeList },
  }),
  add: route({
    method: 'POST',
    path: '/v1/nodes',
    name: 'nodes.add',
    summary: 'Add nodes: all of them or none',
    access: submitter,
    body: z.array(newNode).min(1).max(10_000),
    bodyLimit: 32 * 1024 * 1024,
    answers: { 201: z.array(node).describe('the nodes with their ids, in the order of the request') },
    isCreating: true,
  }),
  get: route({
    method: 'GET',
    path: '/v1/nodes/{id}',
    name: 'nodes.get',
    summary: 'One node with its data',
    access: viewer,
    params,
    answers: { 200: node },
    isVersioned: true,
  }),
  change: route({
    method: 'PATCH',
    path: '/v1/nodes/{id}',
    name: 'nodes.change',
    summary: 'Edit or move a node that has not started',
    access: submitter,
    params,
    body: nodeChange,
    bodyLimit: 32 * 1024 * 1024,
    answers: { 200: node },
    isVersioned: true,
  }),
  remove: route({
    method: 'DELETE',
    path: '/v1/nodes/{id}',
    name: 'nodes.remove',
    summary: 'Remove a node that does not run; with chain=true, it and all below',
    access: operator,
    params,
    query: z.strictObject({ chain: z.enum(['true', 'false']).default('false') }),
    answers: { 200: z.object({ removed: z.int().describe('how many nodes are gone') }) },
    isVersioned: true,
  }),
  keys: route({
    method: 'GET',
    path: '/v1/nodes/{id}/data',
    name: 'nodes.keys',
    summary: 'The keys of the data of a node',
    access: viewer,
    params,
    query: z.strictObject({ start: token.optional(), ...pid, limit: limit(10_000, 1000) }),
    answers: { 200: z.object({ keys: z.array(z.string()), pagination: pagination.optional() }) },
  }),
  read: route({
    method: 'GET',
    path: '/v1/nodes/{id}/data/{key}',
    name: 'nodes.read',
    summary: 'One value; a text in pieces, also one that still grows',
    description:
      'A text comes in pieces of at most `limit` bytes, cut between characters; `pagination` says where the next begins. It is there as long as more may come, so also at the end of the output of a node that runs. Output that is not UTF-8 is shown with replacement characters; `encoding=base64` gives the bytes.',
    access: viewer,
    params: dataParams,
    query: z.strictObject({
      start: z
        .string()
        .regex(/^\d{1,15}$/, 'must be the `next` of the piece before')
        .optional(),
      ...pid,
      limit: z.coerce.number().int().min(4).max(1_048_576).default(65_536).describe('bytes at most'),
      encoding: z.enum(['utf-8', 'base64']).default('utf-8'),
    }),
    answers: { 200: z.object({ key: z.string(), data: z.unknown(), pagination: pagination.optional() }) },
    isVersioned: true,
  }),
  write: route({
    method: 'PUT',
    path: '/v1/nodes/{id}/data/{key}',
    name: 'nodes.write',
    summary: 'Replace a value, or a text from a place on',
    description:
      'Without `start` the whole value is replaced. With an empty `start` it is set only if it is unset, else refused with 412. With `start` and `pid` a text is replaced from that byte on.',
    access: submitter,
    params: dataParams,
    query: z.strictObject({
      start: z
        .string()
        .regex(/^\d{0,15}$/, 'must be empty, or a number of bytes')
        .optional(),
      ...pid,
    }),
    body: z.strictObject({ value: z.unknown().refine((value) => value !== undefined, 'is required') }),
    bodyLimit: 32 * 1024 * 1024,
    answers: { 200: z.object({ key: z.string(), pagination }) },
    isVersioned: true,
  }),
}

export const scheduler = {
  kill: route({
    method: 'PUT',
    path: '/v1/scheduler/kill',
    name: 'scheduler.kill',
    summary: 'Kill nodes: what has not started never does, what runs is stopped',
    description:
      'Answers at once with the state of each. When one is not known, none is killed. The ids come in the parameter or, up to 10,000 of them, in the body.',
    access: operator,
    query: z.strictObject({ id: ids.optional() }),
    body: z.strictObject({ ids: manyIds }).optional(),
    bodyLimit: 1024 * 1024,
    answers: { 200: statesOfNodes },
  }),
  wait: route({
    method: 'GET',
    path: '/v1/scheduler/wait',
    name: 'scheduler.wait',
    summary: 'Wait until nodes have ended, or have been in a state',
    description:
      'Answers 200 once every node has ended or, with `state`, has reached that state or can no longer reach it. `Prefer: wait=N` answers 202 with what is known after N seconds. Waiting again after a broken connection loses nothing.',
    access: viewer,
    query: z.strictObject({ id: ids, state: state.optional() }),
    answers: { 200: statesOfNodes, 202: statesOfNodes },
  }),
  waitForMany: route({
    method: 'POST',
    path: '/v1/scheduler/wait',
    name: 'scheduler.wait_for_many',
    summary: 'Wait as GET does, for up to 10,000 nodes',
    description: 'Changes nothing: it is a POST because thousands of ids do not fit into an address.',
    access: viewer,
    body: z.strictObject({ ids: manyIds, state: state.optional() }),
    bodyLimit: 1024 * 1024,
    isReading: true,
    answers: { 200: statesOfNodes, 202: statesOfNodes },
  }),
}
