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

/**
 * Revisions below a number, the youngest first, with how many tasks they have, and how many of their last ones, `most` at
 * the most, are where. COMMIT counts as unfinished only.
 */
export const listRevisions = many(
  'archives.list_revisions',
  { archive: int8, before: int8, from: int8, limit: int4, most: int4 },
  revisionRow,
)`
  select r.number, r.id, r.author, r.date, r.message, r.planned_at, r.depth, r.cause, r.problems, own.task_count,
    own.unfinished, own.begun, own.failed, own.canceled
  from millrace.revision r
    cross join lateral (
      select coalesce(max(t.task_count), 0)::int as task_count,
        count(l.id)::int as unfinished,
        count(*) filter (where t.workflow is not null and (l.state = 'running' or l.epoch > 0 or d.started_at is not null))::int as begun,
        count(*) filter (where d.state = 'failed')::int as failed,
        count(*) filter (where d.state = 'canceled')::int as canceled
      from (
          select last.task, last.workflow, count(last.workflow) over () as task_count
          from millrace.archive_task last
          where last.archive = r.archive and last.number = r.number
          order by last.task desc
          limit ${'most'}::int
        ) t
        left join millrace.live l on l.id = t.task
        left join millrace.done d on d.id = t.task
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

/** The last tasks of a revision, runs by hand and schedule included, in the order in which they were made. */
export const revisionTasks = many(
  'archives.revision_tasks',
  { archive: int8, number: int8, limit: int4 },
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
  from (
      select last.task, last.name, last.run, last.workflow, last.is_exclusive
      from millrace.archive_task last
      where last.archive = ${'archive'} and last.number = ${'number'}
      order by last.task desc
      limit ${'limit'}::int
    ) t
    left join millrace.live l on l.id = t.task
    left join millrace.done d on d.id = t.task
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

/** The rows of the loom: revisions below a number, the youngest first. */
export const loomRows = many(
  'archives.loom_rows',
  { archive: int8, before: int8, limit: int4 },
  {
    number: int8,
    id: text,
    author: nullable(text),
    date: nullable(timestamptz),
    message: text,
    problems: int4,
    definition: text,
  },
)`
  select number, id, author, date, left(message, 400) as message, jsonb_array_length(problems) as problems,
    substr(encode(definition, 'hex'), 1, 8) as definition
  from millrace.revision
  where archive = ${'archive'} and number < ${'before'}
  order by number desc
  limit ${'limit'}::int
`

/**
 * The cells of the loom by the name of their task: revision and last task of each, as arrays in text, a fraction of rows.
 * A schedule may have made thousands of runs at a revision: here and below only the last of each name is looked up.
 */
export const loomCells = many(
  'archives.loom_cells',
  { archive: int8, first: int8, last: int8 },
  { name: text, workflow: nullable(text), numbers: text, tasks: text },
)`
  select cell.name, max(cell.workflow) as workflow, array_agg(cell.number)::text as numbers,
    array_agg(cell.task)::text as tasks
  from (
    select t.name, t.number, max(t.task) as task, max(t.workflow) as workflow
    from millrace.archive_task t
    where t.archive = ${'archive'} and t.number between ${'first'} and ${'last'}
    group by t.number, t.name
  ) cell
  group by cell.name
`

/**
 * The states of the tasks of a window, as arrays in text. 9: superseded. The ids are a column behind `offset 0`, here and
 * below: a planner that sees thousands of them would rather read all tasks and all edges that there are.
 */
export const loomStates = one(
  'archives.loom_states',
  { archive: int8, first: int8, last: int8 },
  { tasks: nullable(text), states: nullable(text) },
)`
  select array_agg(found.id)::text as tasks, array_agg(found.state)::text as states
  from (
    select millrace.loom_tasks(${'archive'}, ${'first'}, ${'last'}) as ids, enum_range(null::millrace.state) as states
    offset 0
  ) asked
    cross join lateral (
      select id, array_position(asked.states, state) - 1 as state from millrace.live where id = any(asked.ids)
      union all
      select id, case when state = 'canceled' and culprit is not null then 9 else array_position(asked.states, state) - 1 end
      from millrace.done where id = any(asked.ids)
      offset 0
    ) found
`

/**
 * What the tasks of a window wait for and cancel, as arrays in text: four times the task, and how (3: cancels); and how far
 * before it the other one is. Tens of thousands are told, so each in as few digits as it can be.
 */
export const loomEdges = one(
  'archives.loom_edges',
  { archive: int8, first: int8, last: int8 },
  { tasks: nullable(text), backs: nullable(text) },
)`
  select array_agg(edge.task)::text as tasks, array_agg(edge.back)::text as backs
  from (select millrace.loom_tasks(${'archive'}, ${'first'}, ${'last'}) as ids offset 0) asked
    cross join lateral (
      select dependent * 4 + case condition when 'succeeded' then 0 when 'failed' then 1 else 2 end as task,
        dependent - prerequisite as back
      from millrace.edge
      where dependent = any(asked.ids) and condition <> 'ended'
      union all
      select task * 4 + 3, task - target from millrace.supersede where task = any(asked.ids)
      offset 0
    ) edge
`

export const definitionAt = one('archives.definition_at', { archive: int8, number: int8 }, { definition: bytea })`
  select definition
  from millrace.revision
  where archive = ${'archive'} and number = ${'number'}
`

/** The workflow files of a revision, when they are others than those of the revision after it. */
export const filesBefore = maybe(
  'archives.files_before',
  { archive: int8, number: int8, definition: bytea },
  { files: jsonb },
)`
  select d.files
  from millrace.revision r join millrace.definition d on d.hash = r.definition
  where r.archive = ${'archive'} and r.number = ${'number'} and r.definition <> ${'definition'}
`

/**
 * The last revisions of several archives by the names of their tasks: revision and state of each, as arrays in text. What was
 * run by hand or schedule is left out. 9: superseded.
 */
export const frontierCells = many(
  'archives.frontier_cells',
  { archives: array(int8), revisions: int4 },
  { archive: int8, name: text, numbers: text, states: text },
)`
  select a.id as archive, t.name, array_agg(t.number)::text as numbers,
    array_agg(coalesce(
      (select array_position(known.states, l.state) - 1 from millrace.live l where l.id = t.task),
      (
        select case when d.state = 'canceled' and d.culprit is not null then 9 else array_position(known.states, d.state) - 1 end
        from millrace.done d
        where d.id = t.task
      )
    ))::text as states
  from unnest(${'archives'}::bigint[]) asked(id)
    join millrace.archive a on a.id = asked.id
    join millrace.archive_task t
      on t.archive = a.id and t.number > a.planned_number - ${'revisions'}::int and t.run = ''
    cross join (select enum_range(null::millrace.state) as states) known
  group by a.id, t.name
  order by a.id, min(t.task)
`

/** Which of their last revisions have errors in their workflow files. */
export const flawedRevisions = many(
  'archives.flawed_revisions',
  { archives: array(int8), revisions: int4 },
  { archive: int8, number: int8 },
)`
  select r.archive, r.number
  from unnest(${'archives'}::bigint[]) asked(id)
    join millrace.archive a on a.id = asked.id
    join millrace.revision r on r.archive = a.id and r.number > a.planned_number - ${'revisions'}::int
  where r.problems @> '[{"severity": "error"}]'
`
