// Statements of the timeline: which tasks, what is known of their times, what they wait for.
import { array, bool, int4, int8, many, named, nullable, one, text, timestamptz } from '../db/index.ts'
import type { Condition, TaskState } from './task.ts'

const state = named<TaskState>('millrace.state')

export const windowTasks = one(
  'engine.window_tasks',
  { from: timestamptz, to: timestamptz, holder: nullable(int4), limit: int4, scan: int4 },
  { ids: array(int8), is_cut: bool },
)`
  select ids, is_cut from millrace.window_tasks(${'from'}, ${'to'}, ${'holder'}, ${'limit'}, ${'scan'})
`

/** One row for each performance, and for where the task stands or how it ended; the last performances of each task. */
export const readTimes = many(
  'engine.read_times',
  { ids: array(int8), most: int4 },
  {
    task: int8,
    kind: nullable(text),
    scope: text,
    key: nullable(text),
    created_at: timestamptz,
    now: timestamptz,
    epoch: int4,
    is_last: bool,
    outcome: text,
    next: nullable(state),
    prior: nullable(state),
    ready_at: nullable(timestamptz),
    started_at: nullable(timestamptz),
    ended_at: nullable(timestamptz),
    not_before: nullable(timestamptz),
    holder: nullable(int4),
    dispatcher: nullable(text),
  },
)`
  select task.id as task, lane.kind, task.scope, task.key, task.created_at, clock_timestamp() as now,
    times.epoch, times.is_last, times.outcome, times.next, times.prior, times.ready_at, times.started_at, times.ended_at,
    times.not_before, times.holder, dispatcher.name as dispatcher
  from unnest(${'ids'}::bigint[]) asked(id)
    join millrace.task on task.id = asked.id
    left join millrace.lane on lane.id = task.lane
    cross join lateral (
      (
        select epoch, false as is_last, outcome, next, null::millrace.state as prior, ready_at, started_at, ended_at,
          null::timestamptz as not_before, holder
        from millrace.attempt
        where attempt.task = asked.id
        order by epoch desc
        limit ${'most'}::int
      )
      union all
      select epoch, true, state::text, null, prior, ready_at, started_at, finished_at, null, holder
      from millrace.done
      where done.id = asked.id
      union all
      select epoch, true, state::text, null, null, ready_at, started_at, null, not_before, holder
      from millrace.live
      where live.id = asked.id
    ) times
    left join millrace.dispatcher on dispatcher.id = times.holder
  order by task.id, times.is_last, times.epoch
`

/** What of these tasks waits for what of them. */
export const readEdgesAmong = many(
  'engine.read_edges_among',
  { ids: array(int8), limit: int4 },
  { prerequisite: int8, dependent: int8, condition: named<Condition | 'ended'>('millrace.condition') },
)`
  select edge.prerequisite, edge.dependent, edge.condition
  from unnest(${'ids'}::bigint[]) asked(id)
    join millrace.edge on edge.dependent = asked.id
  where edge.prerequisite = any(${'ids'}::bigint[])
  order by edge.dependent, edge.prerequisite
  limit ${'limit'}::int
`
