// Statements that look for archives and schedules that need attention: one row each, not one for each revision.
import { int4, int8, jsonb, many, nullable, text, timestamptz } from '../db/index.ts'

export const troubledArchives = many(
  'archives.troubled',
  { limit: int4 },
  {
    name: text,
    state: text,
    type: nullable(text),
    planned: int8,
    youngest: int8,
    next_announced: nullable(int8),
    announced_at: nullable(timestamptz),
    problem: nullable(jsonb),
    look_problem: nullable(jsonb),
    failing_since: nullable(timestamptz),
    flaw: nullable(text),
    flawed_at: nullable(timestamptz),
  },
)`
  select a.name, a.state, a.source ->> 'type' as type, a.planned_number as planned, a.youngest_number as youngest,
    next.number as next_announced, next.received_at as announced_at,
    a.problem, l.problem as look_problem, l.failing_since,
    flawed.message as flaw, flawed.planned_at as flawed_at
  from millrace.archive a
    join millrace.archive_look l on l.archive = a.id
    left join lateral (
      select n.number, n.received_at
      from millrace.notice n
      where n.archive = a.id and n.number > a.planned_number
      order by n.number
      limit 1
    ) next on true
    left join lateral (
      select flaw.value ->> 'message' as message, r.planned_at
      from millrace.revision r cross join lateral jsonb_array_elements(r.problems) flaw(value)
      where r.archive = a.id and r.number = a.planned_number and flaw.value ->> 'severity' = 'error'
      limit 1
    ) flawed on true
  where a.state <> 'removed'
    and (
      a.state <> 'active' or l.failing_since is not null or a.youngest_number > a.planned_number or next.number is not null
      or flawed.message is not null
    )
  order by a.name
  limit ${'limit'}::int
`

export const troubledSchedules = many(
  'schedules.troubled',
  { since: timestamptz, limit: int4 },
  {
    id: int8,
    archive: text,
    workflow: text,
    paused_at: nullable(timestamptz),
    paused_by: nullable(text),
    problem: nullable(text),
    late_since: nullable(timestamptz),
    missed_since: nullable(timestamptz),
  },
)`
  select s.id, a.name as archive, s.workflow, s.paused_at, s.paused_by, s.problem,
    case when s.paused_at is null and s.next_at < clock_timestamp() - interval '2 minutes' then s.next_at end as late_since,
    missed.missed_since
  from millrace.schedule s
    join millrace.archive a on a.id = s.archive
    left join lateral (
      select t.missed_since
      from millrace.schedule_tick t
      where t.schedule = s.id
      order by t.at desc
      limit 1
    ) missed on missed.missed_since >= ${'since'}
  where a.state <> 'removed'
    and (
      s.paused_at is not null or s.problem is not null or missed.missed_since is not null
      or (s.paused_at is null and s.next_at < clock_timestamp() - interval '2 minutes')
    )
  order by s.id
  limit ${'limit'}::int
`
