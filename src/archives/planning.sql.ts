// Statements of planning: what earlier revisions have, and what a planned one leaves behind.
import { array, bool, bytea, int4, int8, jsonb, many, maybe, nullable, one, run, text } from '../db/index.ts'

/** The cursor, which nobody moves until the transaction ends. Notices go on meanwhile. */
export const lockCursor = maybe(
  'archives.lock_cursor',
  { archive: int8 },
  { state: text, planned_number: int8, planned_id: text, definition: nullable(bytea) },
)`
  select state, planned_number, planned_id, definition
  from millrace.archive
  where id = ${'archive'}
  for no key update
`

const taskRow = { name: text, number: int8, run: text, task: int8 }

/** Of each name the tasks of the nearest revision up to a number that has any. */
export const previousTasks = many(
  'archives.previous_tasks',
  { archive: int8, names: array(text), up_to: int8 },
  taskRow,
)`
  select task.name, task.number, task.run, task.task
  from unnest(${'names'}::text[]) asked(name)
    cross join lateral (
      select t.number
      from millrace.archive_task t
      where t.archive = ${'archive'} and t.name = asked.name and t.number <= ${'up_to'}
      order by t.number desc
      limit 1
    ) nearest
    join millrace.archive_task task
      on task.archive = ${'archive'} and task.number = nearest.number and task.name = asked.name
  order by task.name, task.run
`

/**
 * Takes out of the open tasks what is over. A task that is asked for again at the same moment stays: the trigger that
 * opens it has changed `opened`.
 */
export const closeTasks = run('archives.close_tasks', { archive: int8, names: array(text), exclusive: bool })`
  with over as materialized (
    select t.number, t.name, t.run, t.opened
    from millrace.archive_task t
    where t.archive = ${'archive'} and t.is_open
      and (t.name = any(${'names'}) or (${'exclusive'} and t.is_exclusive))
      and not exists (select from millrace.live l where l.id = t.task)
  )
  update millrace.archive_task t
  set is_open = false
  from over
  where t.archive = ${'archive'} and t.number = over.number and t.name = over.name and t.run = over.run
    and t.opened = over.opened
`

export const openTasks = many(
  'archives.open_tasks',
  { archive: int8, names: array(text), exclusive: bool, up_to: int8 },
  { ...taskRow, is_exclusive: bool, is_chained: bool, is_reopened: bool },
)`
  select t.name, t.number, t.run, t.task, t.is_exclusive, t.is_chained, t.opened > 0 as is_reopened
  from millrace.archive_task t
  where t.archive = ${'archive'} and t.is_open and t.number <= ${'up_to'}
    and (t.name = any(${'names'}) or (${'exclusive'} and t.is_exclusive))
  order by t.number, t.name, t.run
`

export const storeDefinition = run('archives.store_definition', { hash: bytea, files: jsonb })`
  insert into millrace.definition (hash, files)
  values (${'hash'}, ${'files'})
  on conflict (hash) do nothing
`

export const readDefinitionFiles = maybe('archives.read_definition', { hash: bytea }, { files: jsonb })`
  select files
  from millrace.definition
  where hash = ${'hash'}
`

/** How deep the chains are that the given revisions or tasks belong to. */
export const depthsOf = many(
  'archives.depths',
  { archives: array(text), numbers: array(int8) },
  { archive: text, number: int8, depth: int4 },
)`
  select a.name as archive, r.number, r.depth
  from unnest(${'archives'}::text[], ${'numbers'}::bigint[]) asked(archive, number)
    join millrace.archive a on a.name = asked.archive
    join millrace.revision r on r.archive = a.id and r.number = asked.number
`

/** Writes down revisions with their tasks, and moves the cursor behind the last of them. */
export const recordRevisions = one(
  'archives.record_revisions',
  {
    archive: int8,
    revisions: jsonb,
    tasks: jsonb,
    definition: bytea,
    last_number: int8,
    last_id: text,
  },
  { planned_number: int8 },
)`
  with planned as (
    insert into millrace.revision (
      archive, number, id, author, date, message, cause, depth, changes, changes_cut, definition, problems
    )
    select ${'archive'}, x.number, x.id, x.author, x.date, x.message, x.cause, x.depth, x.changes, x.changes_cut,
      ${'definition'}, x.problems
    from jsonb_to_recordset(${'revisions'}) x(
      number bigint, id text, author text, date timestamptz, message text, cause jsonb, depth int, changes jsonb,
      changes_cut boolean, problems jsonb
    )
  ),
  added as (
    insert into millrace.archive_task (archive, number, name, run, task, workflow, is_exclusive, is_chained, is_open)
    select ${'archive'}, x.number, x.name, '', x.task, x.workflow, x.is_exclusive, x.is_chained, x.workflow is not null
    from jsonb_to_recordset(${'tasks'}) x(
      number bigint, name text, task bigint, workflow text, is_exclusive boolean, is_chained boolean
    )
  )
  update millrace.archive
  set planned_number  = ${'last_number'},
      planned_id      = ${'last_id'},
      youngest_number = greatest(youngest_number, ${'last_number'}),
      youngest_id     = case when youngest_number > ${'last_number'} then youngest_id else ${'last_id'} end,
      definition      = ${'definition'},
      is_set_back     = false
  where id = ${'archive'}
  returning planned_number
`

// --- runs by hand and by schedule -------------------------------------------------------------------------------------

export const drawRun = one('archives.draw_run', { archive: int8 }, { run: int8 })`
  update millrace.archive
  set last_run = last_run + 1
  where id = ${'archive'}
  returning last_run as run
`

export const recordRun = run('archives.record_run', { archive: int8, number: int8, run: text, tasks: jsonb })`
  insert into millrace.archive_task (archive, number, name, run, task, workflow, is_exclusive)
  select ${'archive'}, ${'number'}, x.name, ${'run'}, x.task, x.workflow, x.is_exclusive
  from jsonb_to_recordset(${'tasks'}) x(name text, task bigint, workflow text, is_exclusive boolean)
`

export const plannedRevision = maybe(
  'archives.planned_revision',
  { archive: int8, number: int8 },
  {
    number: int8,
    id: text,
    author: nullable(text),
    message: text,
    depth: int4,
    changes: jsonb,
    definition: bytea,
    previous_number: nullable(int8),
    previous_id: nullable(text),
  },
)`
  select r.number, r.id, r.author, r.message, r.depth, r.changes, r.definition, before.number as previous_number,
    before.id as previous_id
  from millrace.revision r
    left join millrace.revision before on before.archive = r.archive and before.number = r.number - 1
  where r.archive = ${'archive'} and r.number = ${'number'}
`
