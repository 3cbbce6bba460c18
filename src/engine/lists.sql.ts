// Statements that list, count and find tasks and dispatchers.
import { array, bool, float8, int2, int4, int8, many, named, nullable, one, text, timestamptz } from '../db/index.ts'
import type { TaskState } from './task.ts'

const state = named<TaskState>('millrace.state')

/** The ids of a page, newest first, and the id below which to go on; null: nothing is left. */
export const pickTasks = one(
  'engine.list_tasks',
  {
    states: nullable(array(text)),
    scopes: nullable(array(text)),
    patterns: nullable(array(text)),
    prefix: nullable(text),
    prefix_end: nullable(text),
    lanes: nullable(array(int4)),
    creator: nullable(int8),
    ids: nullable(array(int8)),
    keys: nullable(array(text)),
    words: nullable(array(text)),
    before: int8,
    limit: int4,
    budget_ms: float8,
  },
  { ids: array(int8), next: nullable(int8) },
)`
  select ids, next
  from millrace.list_tasks(
    ${'states'}, ${'scopes'}, ${'patterns'}, ${'prefix'}, ${'prefix_end'}, ${'lanes'}, ${'creator'}, ${'ids'}, ${'keys'},
    ${'words'}, ${'before'}, ${'limit'}, ${'budget_ms'}
  )
`

export const readSummaries = many(
  'engine.read_summaries',
  { ids: array(int8) },
  {
    id: int8,
    kind: nullable(text),
    queue: nullable(text),
    scope: text,
    key: nullable(text),
    priority: int4,
    creator: nullable(int8),
    actor: nullable(text),
    state,
    unmet: int4,
    created_at: timestamptz,
    ready_at: nullable(timestamptz),
    started_at: nullable(timestamptz),
    finished_at: nullable(timestamptz),
    not_before: nullable(timestamptz),
    failures: int2,
    holder: nullable(int4),
    dispatcher: nullable(text),
    is_canceling: bool,
    cause: nullable(text),
    culprit: nullable(int8),
  },
)`
  select task.id, lane.kind, lane.queue, task.scope, task.key, task.priority, task.creator, task.actor,
    coalesce(live.state, done.state) as state,
    coalesce(live.unmet, 0) as unmet,
    task.created_at,
    coalesce(live.ready_at, done.ready_at) as ready_at,
    coalesce(live.started_at, done.started_at) as started_at,
    done.finished_at,
    live.not_before,
    coalesce(live.failures, done.failures) as failures,
    coalesce(live.holder, done.holder) as holder,
    dispatcher.name as dispatcher,
    live.cancel_cause is not null as is_canceling,
    coalesce(done.cause, nullif(live.cancel_cause, '')) as cause,
    coalesce(done.culprit, live.cancel_by) as culprit
  from unnest(${'ids'}::bigint[]) with ordinality asked(id, place)
    join millrace.task on task.id = asked.id
    left join millrace.lane on lane.id = task.lane
    left join millrace.live on live.id = task.id
    left join millrace.done on done.id = task.id
    left join millrace.dispatcher on dispatcher.id = coalesce(live.holder, done.holder)
  where coalesce(live.state, done.state) is not null
  order by asked.place
`

export const readLanes = many('engine.read_lanes', {}, { id: int4, queue: text, kind: text, is_taken: bool })`
  select id, queue, kind,
    exists (
      select 1 from millrace.dispatcher
      where dead_at is null and expires_at > clock_timestamp() and wanted = 'running' and lane.id = any(lanes)
    ) as is_taken
  from millrace.lane
`

export const countStates = many('engine.count_tasks', {}, { state, count: int8, is_exact: bool })`
  select state, count, is_exact from millrace.count_tasks()
`

/** Equal parts of a time, the newest first; those for which the time did not suffice are missing. */
export const readThroughput = many(
  'engine.throughput',
  { from: timestamptz, to: timestamptz, buckets: int4, rows: int4, budget_ms: float8 },
  {
    bucket: int4,
    succeeded: int8,
    failed: int8,
    canceled: int8,
    skipped: int8,
    is_exact: bool,
    waits: nullable(array(float8)),
    runs: nullable(array(float8)),
  },
)`
  select bucket, succeeded, failed, canceled, skipped, is_exact, waits, runs
  from millrace.throughput(${'from'}, ${'to'}, ${'buckets'}, ${'rows'}, ${'budget_ms'})
`

export const readDispatchers = many(
  'engine.read_dispatchers',
  { is_all: bool, limit: int4 },
  {
    id: int4,
    name: text,
    host: nullable(text),
    started_at: timestamptz,
    last_seen_at: timestamptz,
    lease_seconds: float8,
    is_alive: bool,
    running: int4,
    queues: array(text),
    kinds: array(text),
    silent_ms: int8,
    slots: nullable(int4),
    process: nullable(int4),
    version: nullable(text),
    stopped_at: nullable(timestamptz),
    wanted: text,
    wanted_at: nullable(timestamptz),
    wanted_by: nullable(text),
  },
)`
  select dispatcher.id, dispatcher.name, dispatcher.host, dispatcher.started_at,
    coalesce(dispatcher.dead_at, dispatcher.expires_at - make_interval(secs => dispatcher.lease_seconds)) as last_seen_at,
    dispatcher.lease_seconds,
    dispatcher.dead_at is null and dispatcher.expires_at > clock_timestamp() as is_alive,
    (
      select count(*)::int from millrace.live where state = 'running' and holder = dispatcher.id
    ) as running,
    array(
      select distinct lane.queue from millrace.lane where lane.id = any(dispatcher.lanes) order by 1
    ) as queues,
    array(
      select distinct lane.kind from millrace.lane where lane.id = any(dispatcher.lanes) order by 1
    ) as kinds,
    greatest(0, extract(epoch from clock_timestamp()
      - coalesce(dispatcher.dead_at, dispatcher.expires_at - make_interval(secs => dispatcher.lease_seconds))) * 1000)::bigint as silent_ms,
    dispatcher.slots, dispatcher.process, dispatcher.version, dispatcher.stopped_at, dispatcher.wanted, dispatcher.wanted_at,
    dispatcher.wanted_by
  from millrace.dispatcher
  where ${'is_all'} or (dispatcher.swept_at is null and dispatcher.dead_at is null and dispatcher.expires_at > clock_timestamp())
  order by dispatcher.id desc
  limit ${'limit'}::int
`

/** What dispatchers perform, the first of each. */
export const readPresentTasks = many(
  'engine.read_present_tasks',
  { holders: array(int4), limit: int4 },
  { holder: int4, id: int8, kind: nullable(text), scope: text, key: nullable(text), started_at: nullable(timestamptz) },
)`
  select asked.holder, present.id, lane.kind, task.scope, task.key, present.started_at
  from unnest(${'holders'}::int[]) asked(holder)
    cross join lateral (
      select live.id, live.started_at
      from millrace.live
      where live.state = 'running' and live.holder = asked.holder
      order by live.id
      limit ${'limit'}::int
    ) present
    join millrace.task on task.id = present.id
    left join millrace.lane on lane.id = task.lane
  order by asked.holder, present.id
`

/** Of the given pairs those that are scope and key of a task. */
export const findKeyed = many('engine.find_keyed', { scopes: array(text), keys: array(text) }, { id: int8 })`
  select task.id
  from unnest(${'scopes'}::text[], ${'keys'}::text[]) asked(scope, key)
    join millrace.task on task.scope = asked.scope and task.key = asked.key
  where task.key is not null
  order by task.id
`
