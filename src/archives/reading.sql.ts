// Statements that show revisions. All of them go by index, whatever the length of the history.
import { array, bool, bytea, int4, int8, jsonb, many, maybe, nullable, one, text, timestamptz } from '../db/index.ts'

const revisionRow = {
  number: int8,
  id: text,
  author: nullable(text),
  date: nullable(timestamptz),
  message: text,
  planned_at: timestamptz,
  depth: int4,
  cause: nullable(jsonb),
  problems: jsonb,
  task_count: int4,
  unfinished: int4,
  begun: int4,
  failed: int4,
  canceled: int4,
}

/** Revisions below a number, the youngest first, with how many of their tasks are where. COMMIT counts as unfinished only. */
export const listRevisions = many(
  'archives.list_revisions',
  { archive: int8, before: int8, from: int8, limit: int4 },
  revisionRow,
)`
  select r.number, r.id, r.author, r.date, r.message, r.planned_at, r.depth, r.cause, r.problems, own.task_count, own.unfinished,
    own.begun, own.failed, own.canceled
  from millrace.revision r
    cross join lateral (
      select count(*) filter (where t.workflow is not null)::int as task_count,
        count(l.id)::int as unfinished,
        count(*) filter (where t.workflow is not null and (l.state = 'running' or l.epoch > 0 or d.started_at is not null))::int as begun,
        count(*) filter (where d.state = 'failed')::int as failed,
        count(*) filter (where d.state = 'canceled')::int as canceled
      from millrace.archive_task t
        left join millrace.live l on l.id = t.task
        left join millrace.done d on d.id = t.task
      where t.archive = r.archive and t.number = r.number
    ) own
  where r.archive = ${'archive'} and r.number < ${'before'} and r.number >= ${'from'}
  order by r.number desc
  limit ${'limit'}::int
`

export const revisionDetail = maybe(
  'archives.revision_detail',
  { archive: int8, number: int8 },
  {
    changes: jsonb,
    changes_cut: bool,
    definition: bytea,
    files: jsonb,
    txn: nullable(text),
    announced_at: nullable(timestamptz),
  },
)`
  select r.changes, r.changes_cut, r.definition, d.files, n.txn, n.received_at as announced_at
  from millrace.revision r
    join millrace.definition d on d.hash = r.definition
    left join lateral (
      select txn, received_at
      from millrace.notice
      where archive = r.archive and rev in (r.number::text, r.id)
      order by received_at
      limit 1
    ) n on true
  where r.archive = ${'archive'} and r.number = ${'number'}
`

export const revisionTasks = many(
  'archives.revision_tasks',
  { archive: int8, number: int8 },
  {
    task: int8,
    name: text,
    run: text,
    workflow: nullable(text),
    is_exclusive: bool,
    state: text,
    started_at: nullable(timestamptz),
    finished_at: nullable(timestamptz),
    superseded_by: nullable(int8),
  },
)`
  select t.task, t.name, t.run, t.workflow, t.is_exclusive, coalesce(l.state, d.state)::text as state,
    coalesce(l.started_at, d.started_at) as started_at, d.finished_at,
    case when d.state = 'canceled' then d.culprit end as superseded_by
  from millrace.archive_task t
    left join millrace.live l on l.id = t.task
    left join millrace.done d on d.id = t.task
  where t.archive = ${'archive'} and t.number = ${'number'}
  order by t.task
`

/** What the tasks wait for and cancel. The end of a superseded task is waited for by the engine, not by the plan. */
export const edgesOf = many(
  'archives.edges_of',
  { tasks: array(int8), limit: int4 },
  { task: int8, kind: text, other: int8, scope: text, key: nullable(text) },
)`
  select e.dependent as task, e.condition::text as kind, e.prerequisite as other, p.scope, p.key
  from millrace.edge e join millrace.task p on p.id = e.prerequisite
  where e.dependent = any(${'tasks'}) and e.condition <> 'ended'
  union all
  select s.task, 'cancels', s.target, p.scope, p.key
  from millrace.supersede s join millrace.task p on p.id = s.target
  where s.task = any(${'tasks'})
  order by 1, 3, 2
  limit ${'limit'}::int
`

/** Revisions that were announced and are not planned, as stretches of numbers. */
export const announcedAfter = many(
  'archives.announced_after',
  { archive: int8, after: int8, limit: int4 },
  { number: int8, received_at: timestamptz },
)`
  select number, received_at
  from millrace.notice
  where archive = ${'archive'} and number > ${'after'}
  order by number
  limit ${'limit'}::int
`

/**
 * The window of the loom in one answer. Columns are numbered in the order of their first tasks; all else is small
 * numbers in text, which costs a fraction of rows.
 *
 * cells: column, state, task as a distance from the row's first, for each cell; edges: from column, to column, rows
 * between, condition. Of several runs of a task in one revision the last is shown.
 */
export const readLoom = one(
  'archives.loom',
  { archive: int8, before: int8, from: int8, limit: int4 },
  { columns: jsonb, rows: jsonb },
)`
  with shown as materialized (
    select r.number, r.id, r.author, r.date, left(r.message, 400) as message, r.definition, jsonb_array_length(r.problems) as problems
    from millrace.revision r
    where r.archive = ${'archive'} and r.number < ${'before'} and r.number >= ${'from'}
    order by r.number desc
    limit ${'limit'}::int
  ),
  cell as materialized (
    select t.number, t.name, t.workflow, max(t.task) as task
    from millrace.archive_task t
    where t.archive = ${'archive'}
      and t.number >= (select min(shown.number) from shown)
      and t.number <= (select max(shown.number) from shown)
    group by t.number, t.name, t.workflow
  ),
  numbered as materialized (
    select c.name, max(c.workflow) as workflow, (row_number() over (order by max(c.number) desc, min(c.task)))::int - 1 as at
    from cell c
    group by c.name
  ),
  placed as materialized (
    select c.number, c.task, n.at, min(c.task) over (partition by c.number) as base
    from cell c join numbered n on n.name = c.name
  ),
  states as (
    select p.number, min(p.base) as base,
      string_agg(
        p.at || ',' || case
          when l.id is not null then array_position(enum_range(null::millrace.state), l.state) - 1
          when d.state = 'canceled' and d.culprit is not null then 9
          else array_position(enum_range(null::millrace.state), d.state) - 1
        end || ',' || (p.task - p.base), ',' order by p.at
      ) as cells
    from placed p
      left join millrace.live l on l.id = p.task
      left join millrace.done d on d.id = p.task
    group by p.number
  ),
  threads as (
    select d.number, string_agg(
        p.at || ',' || d.at || ',' || (d.number - p.number) || ',' || array_position(enum_range(null::millrace.condition), e.condition) - 1, ','
        order by d.at, p.at
      ) as edges
    from placed d
      join millrace.edge e on e.dependent = d.task
      join placed p on p.task = e.prerequisite
    where e.condition <> 'ended'
    group by d.number
  ),
  slashes as (
    select s.number, string_agg(t.at || ',' || s.at || ',' || (s.number - t.number) || ',3', ',' order by s.at, t.at) as edges
    from placed s
      join millrace.supersede e on e.task = s.task
      join placed t on t.task = e.target
    group by s.number
  )
  select coalesce((select jsonb_agg(jsonb_build_array(n.name, n.workflow) order by n.at) from numbered n), '[]') as columns,
    coalesce((
      select jsonb_agg(jsonb_build_array(
          s.number, s.id, s.author, s.date, s.message, s.problems, substr(encode(s.definition, 'hex'), 1, 8), states.base::text,
          states.cells, threads.edges, slashes.edges
        ) order by s.number desc)
      from shown s
        left join states on states.number = s.number
        left join threads on threads.number = s.number
        left join slashes on slashes.number = s.number
    ), '[]') as rows
`
