// Statements on archives: registering, noticing, who plans which one.
import {
  array,
  bool,
  bytea,
  float8,
  int4,
  int8,
  jsonb,
  many,
  maybe,
  nullable,
  one,
  run,
  text,
  timestamptz,
} from '../db/index.ts'

export const archiveRow = {
  id: int8,
  name: text,
  source: jsonb,
  state: text,
  identity: nullable(text),
  first_number: int8,
  planned_number: int8,
  planned_id: text,
  youngest_id: nullable(text),
  youngest_number: int8,
  problem: nullable(jsonb),
  announced_at: nullable(timestamptz),
  looked_at: nullable(timestamptz),
  version: int4,
  created_at: timestamptz,
  created_by: text,
}

export const findArchive = maybe('archives.find', { name: text }, archiveRow)`
  select a.id, a.name, a.source, a.state, a.identity, a.first_number, a.planned_number, a.planned_id, a.youngest_id,
    greatest(a.youngest_number, case when a.source ->> 'type' = 'push' then (
      select n.number from millrace.notice n where n.archive = a.id and n.number is not null order by n.number desc limit 1
    ) end) as youngest_number,
    coalesce(a.problem, l.problem || jsonb_build_object('since', l.failing_since)) as problem, l.announced_at, l.looked_at, a.version,
    a.created_at, a.created_by
  from millrace.archive a join millrace.archive_look l on l.archive = a.id
  where a.name = ${'name'}
`

export const listArchives = many('archives.list', { after: text, limit: int4 }, archiveRow)`
  select a.id, a.name, a.source, a.state, a.identity, a.first_number, a.planned_number, a.planned_id, a.youngest_id,
    greatest(a.youngest_number, case when a.source ->> 'type' = 'push' then (
      select n.number from millrace.notice n where n.archive = a.id and n.number is not null order by n.number desc limit 1
    ) end) as youngest_number,
    coalesce(a.problem, l.problem || jsonb_build_object('since', l.failing_since)) as problem, l.announced_at, l.looked_at, a.version,
    a.created_at, a.created_by
  from millrace.archive a join millrace.archive_look l on l.archive = a.id
  where a.name > ${'after'} and a.state <> 'removed'
  order by a.name
  limit ${'limit'}::int
`

/** Nobody is answered when the name was taken meanwhile. */
export const insertArchive = maybe(
  'archives.insert',
  {
    name: text,
    source: jsonb,
    identity: nullable(text),
    planned_number: int8,
    planned_id: text,
    youngest_number: int8,
    youngest_id: nullable(text),
    look_at_once: bool,
    created_by: text,
  },
  { archive: int8 },
)`
  with made as (
    insert into millrace.archive (
      name, source, identity, first_number, planned_number, planned_id, youngest_number, youngest_id, created_by
    )
    values (
      ${'name'}, ${'source'}, ${'identity'}, ${'planned_number'}::bigint + 1, ${'planned_number'}, ${'planned_id'},
      ${'youngest_number'}, ${'youngest_id'}, ${'created_by'}
    )
    on conflict (name) do nothing
    returning id
  )
  insert into millrace.archive_look (archive, look_at, looked_at)
  select made.id, case when ${'look_at_once'} then now() end, now() from made
  returning archive
`

/** Takes the archive up again where it is removed. Nobody is answered when it was changed or planned meanwhile. */
export const changeArchive = maybe(
  'archives.change',
  { id: int8, version: int4, source: jsonb, identity: nullable(text), planned_number: int8, planned_id: text },
  { version: int4 },
)`
  update millrace.archive
  set source         = ${'source'},
      identity       = ${'identity'},
      first_number   = case when planned_number < first_number then ${'planned_number'}::bigint + 1 else first_number end,
      planned_number = ${'planned_number'},
      planned_id     = ${'planned_id'},
      definition     = null,
      state          = case state when 'removed' then 'active' else state end,
      version        = version + 1
  where id = ${'id'} and version = ${'version'}::int and planned_number <= ${'planned_number'}
  returning version
`

/** Sets the state, if it has one of those that allow it. */
export const setState = maybe(
  'archives.set_state',
  { id: int8, state: text, from: array(text), version: nullable(int4) },
  { version: int4 },
)`
  update millrace.archive
  set state   = ${'state'},
      problem = null,
      version = version + 1
  where id = ${'id'} and state = any(${'from'}) and (${'version'}::int is null or version = ${'version'}::int)
  returning version
`

/** Lets the archive be looked at now. */
export const wantLook = one('archives.want_look', { archive: int8 }, { now: timestamptz })`
  update millrace.archive_look
  set look_at = clock_timestamp()
  where archive = ${'archive'}
  returning look_at as now
`

// --- notices ---------------------------------------------------------------------------------------------------------

/**
 * Stores a notice and has the archive looked at. `is_known`: the revision was planned or announced before. One
 * statement, hence one round trip; the repository is not asked.
 */
export const storeNotice = one(
  'archives.store_notice',
  {
    archive: int8,
    rev: text,
    number: nullable(int8),
    txn: nullable(text),
    actor: text,
    content: nullable(jsonb),
  },
  { is_known: bool, is_same: bool },
)`
  with known as (
    select r.number
    from millrace.revision r
    where r.archive = ${'archive'} and (r.number = ${'number'}::bigint or r.id = ${'rev'})
    limit 1
  ),
  planned as (
    select a.id
    from millrace.archive a
    where a.id = ${'archive'} and ${'number'}::bigint <= a.planned_number
  ),
  before as (
    select n.content
    from millrace.notice n
    where n.archive = ${'archive'} and n.rev = ${'rev'}
  ),
  stored as (
    insert into millrace.notice (archive, rev, number, txn, actor, content)
    select ${'archive'}, ${'rev'}, ${'number'}::bigint, ${'txn'}, ${'actor'}, ${'content'}
    where not exists (select from known) and not exists (select from planned)
    on conflict (archive, rev) do nothing
    returning rev
  ),
  due as (
    update millrace.archive_look l
    set look_at      = clock_timestamp(),
        announced_at = clock_timestamp()
    where l.archive = ${'archive'} and exists (select from stored)
  )
  select not exists (select from stored) as is_known,
    coalesce((select before.content is not distinct from ${'content'} from before), true) as is_same
`

export const noticesFrom = many(
  'archives.notices_from',
  { archive: int8, after: int8, limit: int4 },
  { number: int8, content: nullable(jsonb), received_at: timestamptz },
)`
  select number, content, received_at
  from millrace.notice
  where archive = ${'archive'} and number > ${'after'}
  order by number
  limit ${'limit'}::int
`

// --- who plans which archive -----------------------------------------------------------------------------------------

export const plannerRow = {
  id: int8,
  name: text,
  source: jsonb,
  planned_number: int8,
  planned_id: text,
  definition: nullable(bytea),
  version: int4,
  identity: nullable(text),
  is_set_back: bool,
  is_replaced: bool,
  is_announced: bool,
}

/**
 * Gives archives that are due to a planner, those that wait longest first; one whose planner has died is due when that
 * one's time is over. Of broken archives only those are due whose repository may come back. The next look is set before the work: a notice that comes meanwhile makes the archive due again.
 * A claim need not be on disk before the work begins: when it is lost, the cursor still decides.
 */
export const claimArchives = many(
  'archives.claim',
  { planner: text, seconds: float8, poll: float8, limit: int4 },
  plannerRow,
)`
  with due as (
    select l.archive
    from millrace.archive_look l join millrace.archive a on a.id = l.archive
    where (a.state = 'active' or (a.state = 'broken' and a.problem ->> 'code' = 'other_repository'))
      and ((l.planner_until is null and l.look_at <= now()) or l.planner_until < now())
    order by l.look_at
    limit ${'limit'}::int
    for update of l skip locked
  )
  update millrace.archive_look l
  set planner       = ${'planner'},
      planner_until = clock_timestamp() + make_interval(secs => ${'seconds'}),
      look_at       = case when a.source ->> 'type' <> 'push' then clock_timestamp() + make_interval(secs => ${'poll'}) end
  from due
    join millrace.archive a on a.id = due.archive
    cross join (select set_config('synchronous_commit', 'off', true)) quick
  where l.archive = due.archive
  returning a.id, a.name, a.source, a.planned_number, a.planned_id, a.definition, a.version, a.identity,
    a.is_set_back, a.state = 'broken' as is_replaced, coalesce(l.announced_at > l.looked_at, false) as is_announced
`

export const renewClaim = maybe('archives.renew', { archive: int8, planner: text, seconds: float8 }, { archive: int8 })`
  update millrace.archive_look
  set planner_until = clock_timestamp() + make_interval(secs => ${'seconds'})
  where archive = ${'archive'} and planner = ${'planner'}
  returning archive
`

/** Gives the archive back after it was looked at; `again`: there is more to be done, after the others that wait. */
export const releaseArchive = run('archives.release', { archive: int8, planner: text, again: bool })`
  update millrace.archive_look
  set planner       = null,
      planner_until = null,
      look_at       = case when ${'again'} then clock_timestamp() else look_at end,
      looked_at     = clock_timestamp(),
      problem       = null,
      failing_since = null
  where archive = ${'archive'} and planner = ${'planner'}
`

/** Gives the archive back with what keeps it from being read, to try again later; at once if a notice came meanwhile. */
export const failLook = run('archives.fail_look', { archive: int8, planner: text, problem: jsonb, delay: float8 })`
  update millrace.archive_look
  set planner       = null,
      planner_until = null,
      problem       = ${'problem'},
      failing_since = coalesce(failing_since, clock_timestamp()),
      look_at       = case
        when look_at <= clock_timestamp() then look_at
        else clock_timestamp() + make_interval(secs => ${'delay'})
      end,
      looked_at     = clock_timestamp()
  where archive = ${'archive'} and planner = ${'planner'}
`

/** Stops the planning, if the archive is as it was when it was looked at. A problem that stays keeps its time. */
export const breakArchive = run('archives.break', { archive: int8, version: int4, problem: jsonb })`
  update millrace.archive
  set state   = 'broken',
      problem = ${'problem'}::jsonb || jsonb_build_object('since', now()),
      version = version + 1
  where id = ${'archive'} and version = ${'version'}::int and state in ('active', 'broken')
    and problem ->> 'code' is distinct from ${'problem'}::jsonb ->> 'code'
`

/** Goes on after the repository of the archive has come back. */
export const restoreArchive = maybe('archives.restore', { archive: int8, version: int4 }, { version: int4 })`
  update millrace.archive
  set state   = 'active',
      problem = null,
      version = version + 1
  where id = ${'archive'} and version = ${'version'}::int and state = 'broken'
  returning version
`

/** Keeps what makes the repository this one, once it has a revision. */
export const learnIdentity = run('archives.learn_identity', { archive: int8, identity: text })`
  update millrace.archive
  set identity = ${'identity'}
  where id = ${'archive'} and identity is null
`

export const sawYoungest = run('archives.saw_youngest', { archive: int8, number: int8, id: text })`
  update millrace.archive
  set youngest_number = ${'number'},
      youngest_id     = ${'id'}
  where id = ${'archive'} and (youngest_number, youngest_id) is distinct from (${'number'}::bigint, ${'id'})
`

/** Goes on from another place: the history that was planned is gone, and a person has accepted that. */
export const acceptHistory = maybe(
  'archives.accept_history',
  {
    id: int8,
    version: int4,
    identity: nullable(text),
    planned_id: text,
    is_set_back: bool,
  },
  { version: int4 },
)`
  update millrace.archive
  set identity      = ${'identity'},
      planned_id    = ${'planned_id'},
      is_set_back   = ${'is_set_back'},
      definition    = null,
      state         = 'active',
      problem       = null,
      version       = version + 1
  where id = ${'id'} and version = ${'version'}::int and state = 'broken'
  returning version
`

export const knownCommits = many(
  'archives.known_commits',
  { archive: int8, ids: array(text) },
  { number: int8, id: text },
)`
  select number, id
  from millrace.revision
  where archive = ${'archive'} and id = any(${'ids'})
`

export const takenNumbers = many('archives.taken_numbers', { archive: int8, numbers: array(int8) }, { number: int8 })`
  select number
  from millrace.revision
  where archive = ${'archive'} and number = any(${'numbers'})
`
