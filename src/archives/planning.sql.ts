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

const taskRow = { name: text, number: int8, run: text, task: int8, opened: int4, is_live: bool }

/**
 * Of each name, at the nearest revision up to a number that has any: its newest task and all that are unfinished, in the
 * order in which they were made. A schedule may have made thousands there: those that are over are nobody's concern.
 */
export const previousTasks = many(
  'archives.previous_tasks',
  { archive: int8, names: array(text), up_to: int8 },
  { ...taskRow, is_open: bool },
)`
  select asked.name, nearest.number, found.run, found.task, found.opened, l.id is not null as is_live,
    found.is_open
  from unnest(${'names'}::text[]) asked(name)
    cross join lateral (
      select t.number
      from millrace.archive_task t
      where t.archive = ${'archive'} and t.name = asked.name and t.number <= ${'up_to'}
      order by t.number desc
      limit 1
    ) nearest
    cross join lateral (
      (
        select t.run, t.task, t.opened, t.is_open
        from millrace.archive_task t
        where t.archive = ${'archive'} and t.name = asked.name and t.number = nearest.number
        order by t.task desc
        limit 1
      )
      union
      select t.run, t.task, t.opened, t.is_open
      from millrace.archive_task t
      where t.archive = ${'archive'} and t.name = asked.name and t.number = nearest.number and t.is_open
    ) found
    left join millrace.live l on l.id = found.task
  order by asked.name, found.task
`

/**
 * Of names whose tasks cancel all earlier ones, the nearest unfinished one: it stands for those before it. Found from the
 * youngest down, so that those before it cost nothing.
 */
export const nearestOpen = many(
  'archives.nearest_open',
  { archive: int8, names: array(text), up_to: int8 },
  { name: text, number: int8 },
)`
  select asked.name, nearest.number
  from unnest(${'names'}::text[]) asked(name)
    cross join lateral (
      select t.number
      from millrace.archive_task t
      where t.archive = ${'archive'} and t.name = asked.name and t.is_open and t.number <= ${'up_to'}
        and t.is_chained and t.opened = 0 and t.run = ''
        and exists (select from millrace.live l where l.id = t.task)
      order by t.number desc
      limit 1
    ) nearest
`

/**
 * The tasks of these names from these numbers on that count as unfinished, those that came late, and all exclusive ones if
 * they are asked for. Some turn out to be over: whoever plans takes these out by `closeTasks`.
 */
export const openTasks = many(
  'archives.open_tasks',
  { archive: int8, names: array(text), floors: array(int8), exclusive: bool, up_to: int8 },
  { ...taskRow, is_exclusive: bool, is_chained: bool, is_late: bool },
)`
  with asked as (
    select x.name, x.floor from unnest(${'names'}::text[], ${'floors'}::bigint[]) x(name, floor)
  ),
  candidate as materialized (
    select t.name, t.number, t.run, t.task, t.opened, t.is_exclusive, t.is_chained
    from asked join millrace.archive_task t
      on t.archive = ${'archive'} and t.name = asked.name and t.is_open and t.number >= asked.floor
    union
    select t.name, t.number, t.run, t.task, t.opened, t.is_exclusive, t.is_chained
    from asked join millrace.archive_task t
      on t.archive = ${'archive'} and t.name = asked.name and t.is_open and (t.opened > 0 or t.run <> '')
    union
    select t.name, t.number, t.run, t.task, t.opened, t.is_exclusive, t.is_chained
    from millrace.archive_task t
    where ${'exclusive'} and t.archive = ${'archive'} and t.is_open and t.is_exclusive
  )
  select c.name, c.number, c.run, c.task, c.opened, l.id is not null as is_live, c.is_exclusive, c.is_chained,
    c.opened > 0 or c.run <> '' as is_late
  from candidate c left join millrace.live l on l.id = c.task
  where l.id is null or c.number <= ${'up_to'}
  order by c.number, c.name, c.run
`

/**
 * Takes out what turned out to be over, so that nobody comes across it again. A task that is asked for again meanwhile
 * stays: the trigger that opens it has changed `opened`.
 */
export const closeTasks = run('archives.close_tasks', { tasks: array(int8), opened: array(int4) })`
  update millrace.archive_task t
  set is_open = false
  from unnest(${'tasks'}::bigint[], ${'opened'}::int[]) x(task, opened)
  where t.task = x.task and t.opened = x.opened and t.is_open
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

/** Exclusive tasks of later revisions that have not started wait for those of the run. */
export const orderRun = run('archives.order_run', { tasks: array(int8) })`
  select millrace.order_run(${'tasks'})
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
