// Statements that look for what needs attention. Each goes by an index and reads a bounded number of rows.
import { int4, int8, jsonb, many, nullable, text, timestamptz } from '../db/index.ts'

/**
 * Failed tasks that ended since a time, the newest by id, of so many that are looked at. Those of some scopes are left out
 * before they are counted: many of them would hide the others.
 */
export const recentFailures = many(
  'engine.recent_failures',
  { since: timestamptz, without: text, scan: int4, limit: int4 },
  {
    id: int8,
    kind: nullable(text),
    scope: text,
    key: nullable(text),
    finished_at: timestamptz,
    error: nullable(jsonb),
  },
)`
  select failed.id, lane.kind, failed.scope, failed.key, failed.finished_at, failed.error
  from (
    select newest.id, newest.finished_at, newest.error, task.scope, task.key, task.lane
    from (
      select id, finished_at, error
      from millrace.done
      where state <> 'succeeded' and state = 'failed'
      order by id desc
      limit ${'scan'}::int
    ) newest
      join millrace.task on task.id = newest.id
    where newest.finished_at >= ${'since'} and not starts_with(task.scope, ${'without'})
    order by newest.id desc
    limit ${'limit'}::int
  ) failed
    left join millrace.lane on lane.id = failed.lane
  order by failed.finished_at desc
`

/** The first in line of each queue and kind, how many wait there, and how many take from it. */
export const headsOfLine = many(
  'engine.heads_of_line',
  { most: int4 },
  {
    id: int8,
    queue: text,
    kind: text,
    scope: text,
    key: nullable(text),
    ready_at: nullable(timestamptz),
    seconds: int4,
    waiting: int4,
    takers: int4,
    paused: int4,
  },
)`
  select head.id, lane.queue, lane.kind, task.scope, task.key, head.ready_at,
    greatest(0, extract(epoch from clock_timestamp() - head.ready_at))::int as seconds,
    (
      select count(*)::int
      from (
        select 1
        from millrace.live
        where live.state = 'ready' and live.gate is null and live.lane = lane.id
        limit ${'most'}::int
      ) counted
    ) as waiting,
    (
      select count(*)::int
      from millrace.dispatcher
      where swept_at is null and dead_at is null and expires_at > clock_timestamp() and wanted = 'running' and lane.id = any(lanes)
    ) as takers,
    (
      select count(*)::int
      from millrace.dispatcher
      where swept_at is null and dead_at is null and expires_at > clock_timestamp() and wanted <> 'running' and lane.id = any(lanes)
    ) as paused
  from millrace.lane
    cross join lateral (
      select live.id, live.ready_at
      from millrace.live
      where live.state = 'ready' and live.gate is null and live.lane = lane.id
      order by live.priority, live.ready_order
      limit 1
    ) head
    join millrace.task on task.id = head.id
`

export const heldTasks = many(
  'engine.held_tasks',
  { most: int4 },
  { id: int8, scope: text, key: nullable(text), kind: nullable(text), held_by: nullable(text) },
)`
  select held.id, task.scope, task.key, lane.kind, held.held_by
  from (
    select id, held_by from millrace.live where state = 'held' order by id limit ${'most'}::int
  ) held
    join millrace.task on task.id = held.id
    left join millrace.lane on lane.id = task.lane
  order by held.id
`

/** Dispatchers that died, with what is still to be taken from them. */
export const deadDispatchers = many(
  'engine.dead_dispatchers',
  { since: timestamptz, limit: int4 },
  { id: int4, name: text, died_at: timestamptz, running: int4 },
)`
  select dispatcher.id, dispatcher.name, coalesce(dispatcher.dead_at, dispatcher.expires_at) as died_at,
    (select count(*)::int from millrace.live where state = 'running' and holder = dispatcher.id) as running
  from (
    select id, name, dead_at, expires_at, stopped_at from millrace.dispatcher order by id desc limit ${'limit'}::int
  ) dispatcher
  where dispatcher.stopped_at is null and (dispatcher.dead_at is not null or dispatcher.expires_at < clock_timestamp())
    and coalesce(dispatcher.dead_at, dispatcher.expires_at) >= ${'since'}
    and not exists (
      -- It lost its lease and goes on under another number.
      select from millrace.dispatcher later
      where later.id > dispatcher.id and later.name = dispatcher.name and later.dead_at is null
        and later.expires_at > clock_timestamp()
    )
  order by dispatcher.id desc
`
