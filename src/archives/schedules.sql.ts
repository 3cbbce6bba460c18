// Statements of schedules. Those that look at the time are told it: tests move it.
import { bool, bytea, int4, int8, jsonb, many, maybe, nullable, one, run, text, timestamptz } from '../db/index.ts'

export const readClock = one('schedules.clock', {}, { now: timestamptz })`
  select clock_timestamp() as now
`

// --- which schedules there are -----------------------------------------------------------------------------------------

/** Archives whose schedules were taken from another definition than the newest that was planned. */
export const changedSources = many('schedules.changed_sources', {}, { archive: int8 })`
  select archive.id as archive
  from millrace.archive
    left join millrace.schedule_source source on source.archive = archive.id
  where archive.definition is not null and archive.state <> 'removed'
    and source.definition is distinct from archive.definition
  order by archive.id
`

/** The newest definition, and when the revision was planned that has it; the archive is not planned meanwhile. */
export const lockSource = maybe(
  'schedules.lock_source',
  { archive: int8 },
  { name: text, definition: bytea, number: int8, planned_at: timestamptz, is_known: bool },
)`
  select archive.name, archive.definition, revision.number, revision.planned_at,
    coalesce(source.definition = archive.definition, false) as is_known
  from millrace.archive
    join millrace.revision on revision.archive = archive.id and revision.number = archive.planned_number
    left join millrace.schedule_source source on source.archive = archive.id
  where archive.id = ${'archive'} and archive.definition is not null
  for no key update of archive
`

export const setSource = run('schedules.set_source', { archive: int8, definition: bytea })`
  insert into millrace.schedule_source (archive, definition)
  values (${'archive'}, ${'definition'})
  on conflict (archive) do update set definition = excluded.definition
`

/** What is in the definition as before goes on as before, paused or not; what is new begins; the rest goes. */
export const replaceSchedules = run('schedules.replace', { archive: int8, schedules: jsonb })`
  with wanted as (
    select w.workflow, w.cron, w.timezone, w.overlap, w.next_at
    from jsonb_to_recordset(${'schedules'}) w(
      workflow text, cron text, timezone text, overlap text, next_at timestamptz
    )
  ),
  gone as (
    delete from millrace.schedule s
    where s.archive = ${'archive'} and not exists (
      select from wanted w where (w.workflow, w.cron, w.timezone) = (s.workflow, s.cron, s.timezone)
    )
  )
  insert into millrace.schedule (archive, workflow, cron, timezone, overlap, next_at)
  select ${'archive'}, w.workflow, w.cron, w.timezone, w.overlap, w.next_at
  from wanted w
  on conflict (archive, workflow, cron, timezone) do update set overlap = excluded.overlap, problem = null
`

export const breakSchedules = run('schedules.break', { archive: int8, problem: text })`
  update millrace.schedule
  set problem = ${'problem'}
  where archive = ${'archive'}
`

// --- when they run -----------------------------------------------------------------------------------------------------

const dueRow = {
  id: int8,
  archive: int8,
  name: text,
  state: text,
  number: int8,
  workflow: text,
  cron: text,
  timezone: text,
  overlap: text,
  problem: nullable(text),
  last_run: nullable(text),
  last_number: nullable(int8),
}

/** The schedule that has been due for longest, unless another server is at it or at its archive. */
export const takeDue = maybe('schedules.take_due', { now: timestamptz }, { ...dueRow, next_at: timestamptz })`
  select s.id, s.archive, archive.name, archive.state, archive.planned_number as number, s.workflow, s.cron, s.timezone,
    s.overlap, s.problem, s.last_run, s.last_number, s.next_at
  from millrace.schedule s join millrace.archive on archive.id = s.archive
  where s.next_at <= ${'now'} and s.paused_at is null and archive.state <> 'removed'
  order by s.next_at, s.id
  limit 1
  for update of s skip locked
  for no key update of archive skip locked
`

export const takeOne = maybe('schedules.take_one', { id: int8 }, { ...dueRow, next_at: nullable(timestamptz) })`
  select s.id, s.archive, archive.name, archive.state, archive.planned_number as number, s.workflow, s.cron, s.timezone,
    s.overlap, s.problem, s.last_run, s.last_number, s.next_at
  from millrace.schedule s join millrace.archive on archive.id = s.archive
  where s.id = ${'id'} and archive.state <> 'removed'
  for update of s
`

/** Whether tasks of a run are not over. */
export const isRunOpen = one('schedules.is_run_open', { archive: int8, number: int8, run: text }, { is_open: bool })`
  select exists (
    select
    from millrace.archive_task task join millrace.live on live.id = task.task
    where task.archive = ${'archive'} and task.number = ${'number'} and task.run = ${'run'}
  ) as is_open
`

/**
 * Writes down what came of a moment, and sets the next one. All but the last `kept` are forgotten. Two runs by hand in the
 * same millisecond, or one at the very moment of the schedule, are told once: that must not keep the schedule from going on.
 */
export const recordTick = run('schedules.record_tick', {
  id: int8,
  at: timestamptz,
  now: timestamptz,
  missed_since: nullable(timestamptz),
  next_at: nullable(timestamptz),
  number: nullable(int8),
  outcome: text,
  run: nullable(text),
  reason: nullable(text),
  actor: nullable(text),
  kept: int4,
})`
  with told as (
    insert into millrace.schedule_tick (schedule, at, taken_at, missed_since, number, outcome, run, reason, actor)
    values (
      ${'id'}, ${'at'}, ${'now'}, ${'missed_since'}, ${'number'}, ${'outcome'}, ${'run'}, ${'reason'}, ${'actor'}
    )
    on conflict (schedule, at) do nothing
  ),
  forgotten as (
    delete from millrace.schedule_tick tick
    where tick.schedule = ${'id'} and tick.at < (
      select old.at
      from millrace.schedule_tick old
      where old.schedule = ${'id'}
      order by old.at desc
      offset ${'kept'}::int - 2
      limit 1
    )
  )
  update millrace.schedule
  set next_at     = ${'next_at'},
      last_run    = coalesce(${'run'}, last_run),
      last_number = coalesce(${'number'}, last_number)
  where id = ${'id'}
`

/** The next moment of any schedule; null when none will come. */
export const nextMoment = one('schedules.next_moment', {}, { at: nullable(timestamptz) })`
  select min(s.next_at) as at
  from millrace.schedule s join millrace.archive on archive.id = s.archive
  where s.paused_at is null and archive.state <> 'removed'
`

// --- what a person sees and does ---------------------------------------------------------------------------------------

const shownRow = {
  id: int8,
  archive: text,
  workflow: text,
  cron: text,
  timezone: text,
  overlap: text,
  next_at: nullable(timestamptz),
  paused_at: nullable(timestamptz),
  paused_by: nullable(text),
  problem: nullable(text),
  last: nullable(jsonb),
}

/** Schedules by their id, of one archive or of all. */
export const listSchedules = many(
  'schedules.list',
  { archive: nullable(text), id: nullable(int8), after: int8, limit: int4 },
  shownRow,
)`
  select s.id, archive.name as archive, s.workflow, s.cron, s.timezone, s.overlap, s.next_at, s.paused_at, s.paused_by,
    s.problem, (
      select jsonb_build_object(
        'at', tick.at, 'outcome', tick.outcome, 'run', tick.run, 'rev', tick.number, 'reason', tick.reason
      )
      from millrace.schedule_tick tick
      where tick.schedule = s.id
      order by tick.at desc
      limit 1
    ) as last
  from millrace.schedule s join millrace.archive on archive.id = s.archive
  where archive.state <> 'removed' and s.id > ${'after'}
    and (${'archive'}::text is null or archive.name = ${'archive'})
    and (${'id'}::bigint is null or s.id = ${'id'})
  order by s.id
  limit ${'limit'}::int
`

export const listTicks = many(
  'schedules.ticks',
  { id: int8, limit: int4 },
  {
    at: timestamptz,
    taken_at: timestamptz,
    missed_since: nullable(timestamptz),
    number: nullable(int8),
    outcome: text,
    run: nullable(text),
    reason: nullable(text),
    actor: nullable(text),
  },
)`
  select tick.at, tick.taken_at, tick.missed_since, tick.number, tick.outcome, tick.run, tick.reason, tick.actor
  from millrace.schedule_tick tick
  where tick.schedule = ${'id'}
  order by tick.at desc
  limit ${'limit'}::int
`

export const pauseSchedule = run('schedules.pause', { id: int8, now: timestamptz, actor: text })`
  update millrace.schedule
  set paused_at = coalesce(paused_at, ${'now'}),
      paused_by = coalesce(paused_by, ${'actor'})
  where id = ${'id'}
`

export const resumeSchedule = run('schedules.resume', { id: int8, next_at: nullable(timestamptz) })`
  update millrace.schedule
  set paused_at = null,
      paused_by = null,
      next_at   = case when paused_at is null then next_at else ${'next_at'} end
  where id = ${'id'}
`
