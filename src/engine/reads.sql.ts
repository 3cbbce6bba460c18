// Statements that only read.
import {
  array,
  bool,
  int2,
  int4,
  int8,
  jsonb,
  many,
  maybe,
  named,
  nullable,
  one,
  text,
  timestamptz,
} from '../db/index.ts'
import type { Condition, TaskState } from './task.ts'

const state = named<TaskState>('millrace.state')
const condition = named<Condition | 'ended'>('millrace.condition')

export const heldBy = many('engine.held_by', { holder: int4 }, { id: int8, epoch: int4 })`
  select id, epoch from millrace.live where holder = ${'holder'} and state = 'running'
`

export const leaseFacts = many(
  'engine.lease_facts',
  { holders: array(int4), ids: array(int8), epochs: array(int4) },
  { id: int8, is_held: bool, is_canceling: bool, is_recorded: bool, is_open: bool },
)`
  select id, is_held, is_canceling, is_recorded, is_open from millrace.lease_facts(${'holders'}, ${'ids'}, ${'epochs'})
`

export const readTask = maybe(
  'engine.read_task',
  { id: nullable(int8), scope: nullable(text), key: nullable(text) },
  {
    id: int8,
    kind: nullable(text),
    queue: nullable(text),
    scope: text,
    key: nullable(text),
    priority: int4,
    max_attempts: int2,
    payload: nullable(jsonb),
    creator: nullable(int8),
    actor: nullable(text),
    created_at: timestamptz,
    state,
    unmet: int4,
    ready_at: nullable(timestamptz),
    started_at: nullable(timestamptz),
    finished_at: nullable(timestamptz),
    not_before: nullable(timestamptz),
    failures: int2,
    deaths: int2,
    holder: nullable(int4),
    epoch: int4,
    dispatcher: nullable(text),
    is_canceling: bool,
    cause: nullable(text),
    culprit: nullable(int8),
    ended_by: nullable(text),
    held_by: nullable(text),
    error: nullable(jsonb),
    output: nullable(jsonb),
  },
)`
  select task.id, lane.kind, lane.queue, task.scope, task.key, task.priority, task.max_attempts, task.payload,
    task.creator, task.actor, task.created_at,
    coalesce(live.state, done.state) as state,
    coalesce(live.unmet, 0) as unmet,
    coalesce(live.ready_at, done.ready_at) as ready_at,
    coalesce(live.started_at, done.started_at) as started_at,
    done.finished_at,
    live.not_before,
    coalesce(live.failures, done.failures) as failures,
    coalesce(live.deaths, done.deaths) as deaths,
    coalesce(live.holder, done.holder) as holder,
    coalesce(live.epoch, done.epoch) as epoch,
    dispatcher.name as dispatcher,
    live.cancel_cause is not null as is_canceling,
    coalesce(done.cause, nullif(live.cancel_cause, '')) as cause,
    coalesce(done.culprit, live.cancel_by) as culprit,
    done.actor as ended_by,
    live.held_by,
    done.error,
    done.output
  from millrace.task
    left join millrace.lane on lane.id = task.lane
    left join millrace.live on live.id = task.id
    left join millrace.done on done.id = task.id
    left join millrace.dispatcher on dispatcher.id = coalesce(live.holder, done.holder)
  where (${'id'}::bigint is not null and task.id = ${'id'}::bigint)
    or (${'key'}::text is not null and task.scope = ${'scope'}::text and task.key = ${'key'}::text)
`

export const readRequirements = many(
  'engine.read_requirements',
  { id: int8, limit: int4 },
  { id: int8, condition, is_met: bool, state, kind: nullable(text), scope: text, key: nullable(text) },
)`
  select edge.prerequisite as id, edge.condition, millrace.is_met(edge.condition, done.state) as is_met,
    coalesce(live.state, done.state) as state, lane.kind, task.scope, task.key
  from millrace.edge
    join millrace.task on task.id = edge.prerequisite
    left join millrace.lane on lane.id = task.lane
    left join millrace.live on live.id = edge.prerequisite
    left join millrace.done on done.id = edge.prerequisite
  where edge.dependent = ${'id'}
  order by edge.prerequisite
  limit ${'limit'}::int
`

export const readDependents = many(
  'engine.read_dependents',
  { id: int8, limit: int4 },
  { id: int8, condition, state, kind: nullable(text), scope: text, key: nullable(text) },
)`
  select edge.dependent as id, edge.condition, coalesce(live.state, done.state) as state, lane.kind, task.scope, task.key
  from millrace.edge
    join millrace.task on task.id = edge.dependent
    left join millrace.lane on lane.id = task.lane
    left join millrace.live on live.id = edge.dependent
    left join millrace.done on done.id = edge.dependent
  where edge.prerequisite = ${'id'}
  order by edge.dependent
  limit ${'limit'}::int
`

/** What a task waits for: the same predicate that counts requirements decides what is listed. */
export const readUnmet = many(
  'engine.read_unmet',
  { id: int8, limit: int4 },
  {
    id: int8,
    condition,
    state,
    kind: nullable(text),
    scope: text,
    key: nullable(text),
    started_at: nullable(timestamptz),
    dispatcher: nullable(text),
    seconds: nullable(int4),
    is_unmeetable: bool,
  },
)`
  select edge.prerequisite as id, edge.condition, coalesce(live.state, done.state) as state, lane.kind, task.scope, task.key,
    live.started_at, dispatcher.name as dispatcher,
    extract(epoch from clock_timestamp() - live.started_at)::int as seconds,
    done.id is not null as is_unmeetable
  from millrace.edge
    join millrace.task on task.id = edge.prerequisite
    left join millrace.lane on lane.id = task.lane
    left join millrace.live on live.id = edge.prerequisite
    left join millrace.done on done.id = edge.prerequisite
    left join millrace.dispatcher on dispatcher.id = live.holder
  where edge.dependent = ${'id'} and not millrace.is_met(edge.condition, done.state)
  order by edge.prerequisite
  limit ${'limit'}::int
`

/** Why a ready task has not started: the gate it queues at, and what is ahead of it. */
export const readReadiness = one(
  'engine.read_readiness',
  { id: int8 },
  {
    gate: nullable(text),
    capacity: nullable(int4),
    ahead: int4,
    effects: int4,
    superseding: array(int8),
  },
)`
  select gate.name as gate, gate.capacity,
    (
      select count(*)::int
      from (
        select 1
        from millrace.live other
        where other.state = 'ready' and other.gate is null and other.lane = live.lane
          and (other.priority, other.ready_order) < (live.priority, live.ready_order)
        limit 1000
      ) first_ones
    ) as ahead,
    (select count(*)::int from millrace.effect where ref = live.id and kind <> 'gate') as effects,
    array(
      select target
      from millrace.targets_of(live.id) target
      order by 1
      limit 5
    ) as superseding
  from millrace.live left join millrace.gate on gate.id = live.gate
  where live.id = ${'id'}
`

/** The tasks that hold the gate at which a task queues, the first of them, and how many there are. */
export const readGateHolders = many(
  'engine.read_gate_holders',
  { id: int8, limit: int4 },
  { id: int8, kind: nullable(text), scope: text, key: nullable(text), count: int4 },
)`
  select other.id, lane.kind, task.scope, task.key, (count(*) over ())::int as count
  from millrace.live
    join millrace.live other on live.gate = any(other.gates[1 : other.gates_held])
    join millrace.task on task.id = other.id
    left join millrace.lane on lane.id = other.lane
  where live.id = ${'id'}
  order by other.id
  limit ${'limit'}::int
`

/** The dispatchers that take tasks like this one, with how many places each has and how many are taken. */
export const readPlaces = many(
  'engine.read_places',
  { id: int8 },
  { id: int4, name: text, slots: nullable(int4), taken: int4 },
)`
  select dispatcher.id, dispatcher.name, dispatcher.slots,
    (select count(*)::int from millrace.live other where other.holder = dispatcher.id and other.state = 'running') as taken
  from millrace.live
    join millrace.dispatcher on live.lane = any(dispatcher.lanes)
  where live.id = ${'id'} and dispatcher.dead_at is null and dispatcher.expires_at > clock_timestamp()
    and dispatcher.wanted = 'running'
  order by dispatcher.id
`

/** The scopes whose tasks these dispatchers run, those with the most first: how many, and the first of them. */
export const readScopesAt = many(
  'engine.read_scopes_at',
  { holders: array(int4) },
  { scope: text, count: int4, first: int8 },
)`
  select task.scope, count(*)::int as count, min(live.id) as first
  from millrace.live join millrace.task on task.id = live.id
  where live.holder = any(${'holders'}) and live.state = 'running'
  group by task.scope
  order by 2 desc, 1
`

export const readHistory = many(
  'engine.read_history',
  { task: int8 },
  {
    at: timestamptz,
    name: text,
    next: nullable(state),
    cause: nullable(text),
    culprit: nullable(int8),
    actor: nullable(text),
    holder: nullable(int4),
    dispatcher: nullable(text),
    epoch: nullable(int4),
    error: nullable(jsonb),
  },
)`
  select at, history.name, next, cause, culprit, actor, holder, dispatcher.name as dispatcher, epoch, error
  from millrace.history left join millrace.dispatcher on dispatcher.id = history.holder
  where task = ${'task'}
  order by at, rank
`

/** The newest first. What was handed back counts for nothing. */
export const readAttempts = many(
  'engine.read_attempts',
  { task: int8, number: nullable(int4), limit: nullable(int4) },
  {
    number: int4,
    epoch: int4,
    outcome: nullable(text),
    started_at: timestamptz,
    ended_at: nullable(timestamptz),
    holder: nullable(int4),
    dispatcher: nullable(text),
    error: nullable(jsonb),
    output: nullable(jsonb),
  },
)`
  select numbered.number, numbered.epoch, numbered.outcome, numbered.started_at, numbered.ended_at, numbered.holder,
    dispatcher.name as dispatcher, numbered.error, numbered.output
  from (
    select row_number() over (order by epoch)::int as number, epoch, outcome, started_at, ended_at, holder, error, output
    from (
      select epoch, outcome, started_at, ended_at, holder, error, output
      from millrace.attempt where task = ${'task'}
      union all
      select epoch, state::text, started_at, finished_at, holder, error, output
      from millrace.done where id = ${'task'} and prior is null
      union all
      select epoch, null, started_at, null, holder, null, null
      from millrace.live where id = ${'task'} and state = 'running'
    ) performed
    where started_at is not null and outcome is distinct from 'handed_back'
  ) numbered
    left join millrace.dispatcher on dispatcher.id = numbered.holder
  where ${'number'}::int is null or numbered.number = ${'number'}::int
  order by numbered.epoch desc
  limit ${'limit'}::int
`

export const readUnderWay = one('engine.read_under_way', { task: int8, epoch: int4 }, { is_so: bool })`
  select exists (
    select 1 from millrace.live where id = ${'task'} and epoch = ${'epoch'} and state = 'running'
  ) as is_so
`

/** `lost`: the lease ran out, and the attempt may be resumed. */
export const readLease = maybe(
  'engine.read_lease',
  { task: int8, epoch: int4 },
  { lease: named<'held' | 'lost' | 'gone'>('text') },
)`
  select case when state = 'running' then 'held' when lost_by is not null then 'lost' else 'gone' end as lease
  from millrace.live where id = ${'task'} and epoch = ${'epoch'}
`

export const verify = many('engine.verify', {}, { task: nullable(int8), problem: text })`
  select task, problem from millrace.verify()
`

export const countUnfinished = one('engine.count_unfinished', { kind: text }, { count: int4 })`
  select count(*)::int as count
  from millrace.live join millrace.lane on lane.id = live.lane
  where lane.kind = ${'kind'}
`

export const findSucceeded = many(
  'engine.find_succeeded',
  { kind: text, after: nullable(timestamptz), before: nullable(timestamptz) },
  { id: int8 },
)`
  select task.id
  from millrace.task
    join millrace.lane on lane.id = task.lane
    join millrace.done on done.id = task.id
  where lane.kind = ${'kind'} and done.state = 'succeeded'
    and (${'after'}::timestamptz is null or task.created_at >= ${'after'}::timestamptz)
    and (${'before'}::timestamptz is null or task.created_at < ${'before'}::timestamptz)
  order by task.id
`
