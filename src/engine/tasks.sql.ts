// Statements that change tasks. Each is one call of a function of the same verb in migrations/functions: those hold
// several statements where one must see what the one before has locked, in one round trip.
import {
  array,
  bool,
  float8,
  int2,
  int4,
  int8,
  jsonb,
  many,
  maybe,
  named,
  nullable,
  one,
  run,
  text,
  timestamptz,
} from '../db/index.ts'
import type { TaskId, TaskState } from './task.ts'

const state = named<TaskState>('millrace.state')

/** A task's id, or minus the position of one that is added by the same call. */
const reference = named<TaskId | number>('int8')

export const laneIds = one('engine.lane_ids', { queues: array(text), kinds: array(text) }, { ids: array(int4) })`
  select millrace.lane_ids(${'queues'}, ${'kinds'}) as ids
`

export const knownKinds = many('engine.known_kinds', {}, { kind: text })`
  select distinct kind from millrace.lane order by kind
`

/** `%` in the pattern matches anything. */
export const setLimits = one('engine.set_limits', { pattern: text, capacity: int4 }, { has_changed: bool })`
  select millrace.set_limits(${'pattern'}, ${'capacity'}) as has_changed
`

export const gateIds = one('engine.gate_ids', { names: array(text), capacities: array(int4) }, { ids: array(int4) })`
  select millrace.gate_ids(${'names'}, ${'capacities'}) as ids
`

/** `ids` as one text: an array would be read letter by letter. */
export const addTasks = one(
  'engine.add',
  {
    lanes: array(nullable(int4)),
    scopes: nullable(array(text)),
    payloads: nullable(text),
    priorities: nullable(array(nullable(int4))),
    keys: nullable(array(nullable(text))),
    max_attempts: nullable(array(nullable(int2))),
    not_before: nullable(array(nullable(timestamptz))),
    delays: nullable(array(nullable(float8))),
    held_by: nullable(array(nullable(text))),
    edge_items: nullable(array(int4)),
    edge_prerequisites: nullable(array(reference)),
    edge_conditions: nullable(array(text)),
    cancel_items: nullable(array(int4)),
    cancel_targets: nullable(array(reference)),
    cancel_chains: nullable(array(bool)),
    gate_items: nullable(array(int4)),
    gates: nullable(array(int4)),
    limits: nullable(array(int4)),
    capacities: nullable(array(int4)),
    creator: nullable(int8),
    actor: nullable(text),
  },
  { ids: text, existing: nullable(array(nullable(int8))) },
)`
  select array_to_string(ids, ',') as ids, existing
  from millrace.add(
    ${'lanes'}, ${'scopes'}, ${'payloads'}, ${'priorities'}, ${'keys'}, ${'max_attempts'}, ${'not_before'}, ${'delays'},
    ${'held_by'}, ${'edge_items'}, ${'edge_prerequisites'}, ${'edge_conditions'}, ${'cancel_items'}, ${'cancel_targets'},
    ${'cancel_chains'}, ${'gate_items'}, ${'gates'}, ${'limits'}, ${'capacities'}, ${'creator'}, ${'actor'}
  )
`

export const requireTasks = one(
  'engine.require',
  {
    dependent: int8,
    prerequisites: array(int8),
    conditions: array(text),
    holder: nullable(int4),
    epoch: nullable(int4),
  },
  { added: int4 },
)`
  select millrace.require(${'dependent'}, ${'prerequisites'}, ${'conditions'}, ${'holder'}, ${'epoch'}) as added
`

export const rewireTask = one(
  'engine.rewire',
  {
    dependent: int8,
    prerequisites: array(int8),
    conditions: array(text),
    cause: nullable(text),
    actor: nullable(text),
  },
  { is_done: bool },
)`
  select millrace.rewire(${'dependent'}, ${'prerequisites'}, ${'conditions'}, ${'cause'}, ${'actor'}) as is_done
`

/** Nobody claims them while their rows are locked. */
export const lockUnstarted = many('engine.lock_unstarted', { ids: array(int8) }, { id: int8 })`
  select id from millrace.live where id = any(${'ids'}) and state <> 'running' order by id for update
`

export const cancelTasks = many(
  'engine.cancel',
  { ids: array(int8), cause: nullable(text), actor: nullable(text) },
  { id: int8, state },
)`
  select id, state from millrace.cancel(${'ids'}, ${'cause'}, ${'actor'})
`

export const skipTasks = one(
  'engine.skip',
  { ids: array(int8), cause: nullable(text), actor: nullable(text) },
  { ids: array(int8) },
)`
  select millrace.skip(${'ids'}, ${'cause'}, ${'actor'}) as ids
`

export const holdTasks = one(
  'engine.hold',
  { ids: array(int8), cause: nullable(text), actor: nullable(text) },
  { ids: array(int8) },
)`
  select millrace.hold(${'ids'}, ${'cause'}, ${'actor'}) as ids
`

export const prioritizeTasks = one(
  'engine.prioritize',
  { ids: array(int8), priority: int4, cause: nullable(text), actor: nullable(text) },
  { ids: array(int8) },
)`
  select millrace.prioritize(${'ids'}, ${'priority'}, ${'cause'}, ${'actor'}) as ids
`

export const releaseTasks = one(
  'engine.release',
  { ids: array(int8), cause: nullable(text), actor: nullable(text) },
  { ids: array(int8) },
)`
  select millrace.release(${'ids'}, ${'cause'}, ${'actor'}) as ids
`

/** `name` is the verb: retried for what failed, was canceled or skipped; rerun for what succeeded. */
export const retryTasks = one(
  'engine.retry',
  { ids: array(int8), name: text, cause: nullable(text), actor: nullable(text) },
  { ids: array(int8) },
)`
  select millrace.retry(${'ids'}, ${'name'}, ${'cause'}, ${'actor'}) as ids
`

export const succeedTask = one(
  'engine.succeed',
  { id: int8, cause: nullable(text), actor: nullable(text) },
  { done: bool },
)`
  select millrace.succeed(${'id'}, ${'cause'}, ${'actor'}) as done
`

/**
 * Locks the task against other outcomes for the rest of the transaction; no row: the lease is lost. A process that
 * freezes in the transaction, or loses the server, would hold the lock for ever: the server ends it after a lease.
 */
export const holdLease = maybe(
  'engine.hold_lease',
  { id: int8, holder: int4, epoch: int4 },
  { is_canceling: bool, idle_ms: text },
)`
  select cancel_cause is not null as is_canceling,
    set_config(
      'idle_in_transaction_session_timeout',
      (select greatest(1, lease_seconds * 1000)::int::text from millrace.dispatcher where dispatcher.id = live.holder),
      true
    ) as idle_ms
  from millrace.live
  where id = ${'id'} and holder = ${'holder'} and epoch = ${'epoch'} and state = 'running'
  for no key update
`

/** The number of the attempt that runs, counted as `readAttempts` does, and whether a transient error ends the task. */
export const readRunning = one('engine.read_running', { id: int8 }, { attempt: int4, is_exhausting: bool })`
  select (
      select count(*)::int + 1
      from millrace.attempt
      where task = live.id and started_at is not null and outcome <> 'handed_back'
    ) as attempt,
    failures + 1 >= max_attempts as is_exhausting
  from millrace.live
  where id = ${'id'}
`

export const lockToFinish = maybe('engine.lock_to_finish', { id: int8 }, { id: int8 })`
  select id from millrace.live where id = ${'id'} for update
`

export const finishTask = one(
  'engine.finish',
  {
    holder: int4,
    ids: array(int8),
    epochs: array(int4),
    outputs: nullable(array(nullable(jsonb))),
    unchanged: array(int8),
  },
  { accepted: array(int8) },
)`
  select accepted
  from millrace.finish_leased(${'holder'}, ${'ids'}, ${'epochs'}, ${'outputs'}, ${'unchanged'})
`

export const failTasks = one(
  'engine.fail',
  { holder: int4, ids: array(int8), epochs: array(int4), state, errors: array(nullable(jsonb)) },
  { accepted: array(int8) },
)`
  select millrace.fail(${'holder'}, ${'ids'}, ${'epochs'}, ${'state'}, ${'errors'}) as accepted
`

export const requeueTasks = many(
  'engine.requeue',
  {
    holder: int4,
    ids: array(int8),
    epochs: array(int4),
    outcome: text,
    delays: nullable(array(nullable(float8))),
    errors: nullable(array(nullable(jsonb))),
  },
  { id: int8, state },
)`
  select id, state
  from millrace.requeue(${'holder'}, ${'ids'}, ${'epochs'}, ${'outcome'}, ${'delays'}, ${'errors'})
`

export const tellEvent = run('engine.tell_event', {
  task: int8,
  name: text,
  cause: nullable(text),
  actor: nullable(text),
  detail: nullable(jsonb),
})`
  with kept as (
    insert into millrace.event (task, name, cause, actor, detail)
    values (${'task'}, ${'name'}, ${'cause'}, ${'actor'}, ${'detail'})
    returning task, name, cause, actor, detail
  )
  insert into millrace.outbox (name, tasks, cause, actor, details)
  select name, array[task], cause, actor, array[detail] from kept
`
