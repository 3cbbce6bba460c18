// Statements for looking at the tree: its newest nodes first, the line from a node upwards and downwards, and what is told
// of each node in a list.
import { array, int4, int8, jsonb, many, nullable } from '../db/index.ts'
import { listing, metadata } from './nodes.sql.ts'

/** As nodes.list and its like, but the newest first: `after` is the last of the page before. */
export const listNewest = many('nodes.list_newest', listing, metadata)`
  select id, parent, task, version, type, run_if, branch, created_at, state, started_at, finished_at
  from millrace.node_now
  where id < ${'after'}
    and (${'types'}::text[] is null or type = any(${'types'}))
    and (${'states'}::text[] is null or state = any(${'states'}))
  order by id desc
  limit ${'limit'}::int
`

export const listNewestChildren = many('nodes.list_newest_children', { ...listing, parent: int8 }, metadata)`
  select id, parent, task, version, type, run_if, branch, created_at, state, started_at, finished_at
  from millrace.node_now
  where parent = ${'parent'}
    and id < ${'after'}
    and (${'types'}::text[] is null or type = any(${'types'}))
    and (${'states'}::text[] is null or state = any(${'states'}))
  order by id desc
  limit ${'limit'}::int
`

export const listNewestTop = many('nodes.list_newest_top', listing, metadata)`
  select id, parent, task, version, type, run_if, branch, created_at, state, started_at, finished_at
  from millrace.node_now
  where parent is null
    and id < ${'after'}
    and (${'types'}::text[] is null or type = any(${'types'}))
    and (${'states'}::text[] is null or state = any(${'states'}))
  order by id desc
  limit ${'limit'}::int
`

export const listNewestUnfinished = many('nodes.list_newest_unfinished', listing, metadata)`
  select id, parent, task, version, type, run_if, branch, created_at, state, started_at, finished_at
  from millrace.node_now
  where task in (select live.id from millrace.live)
    and id < ${'after'}
    and (${'types'}::text[] is null or type = any(${'types'}))
    and state = any(${'states'})
  order by id desc
  limit ${'limit'}::int
`

/** A node has one parent, so the walk upwards is as long as what it answers. */
export const listUp = many('nodes.list_up', { of: int8, limit: int4 }, metadata)`
  with recursive line (id, distance) as (
    select node.id, 1 from millrace.node where node.id = ${'of'}
    union all
    select up.parent, line.distance + 1
    from line cross join lateral (select node.parent from millrace.node where node.id = line.id offset 0) up
    where up.parent is not null and line.distance < ${'limit'}::int
  )
  select now.id, now.parent, now.task, now.version, now.type, now.run_if, now.branch, now.created_at, now.state,
    now.started_at, now.finished_at
  from line join millrace.node_now now on now.id = line.id
  order by line.distance
`

/**
 * Level by level, and of each node its oldest children first. The limit stands inside, behind nothing that sorts: it ends
 * the walk as soon as there are enough, however many more there are.
 */
export const listDown = many('nodes.list_down', { of: int8, limit: int4 }, metadata)`
  with recursive line (id, distance) as (
    select node.id, 0 from millrace.node where node.id = ${'of'}
    union all
    select child.id, line.distance + 1
    from line
      cross join lateral (
        select node.id from millrace.node where node.parent = line.id order by node.id limit ${'limit'}::int
      ) child
  ),
  nearest as (
    select line.id, line.distance from line limit ${'limit'}::int
  )
  select now.id, now.parent, now.task, now.version, now.type, now.run_if, now.branch, now.created_at, now.state,
    now.started_at, now.finished_at
  from nearest join millrace.node_now now on now.id = nearest.id
  order by nearest.distance, now.id
`

/** What lists tell of nodes beside their metadata. Long texts are cut here: they may be megabytes. */
export const describeNodes = many(
  'nodes.describe',
  { ids: array(int8), most_children: int4 },
  { id: int8, output: nullable(jsonb), error: nullable(jsonb), children: int4, data: nullable(jsonb) },
)`
  select now.id, now.output, now.error,
    (
      select count(*)::int
      from (
        select 1 from millrace.node child where child.parent = now.id limit ${'most_children'}::int
      ) counted
    ) as children,
    (
      select jsonb_object_agg(
        node_data.key,
        case
          when jsonb_typeof(node_data.value) = 'string' then to_jsonb(left(node_data.value #>> '{}', 250))
          when pg_column_size(node_data.value) <= 2000 then node_data.value
        end
      )
      from millrace.node_data
      where node_data.node = now.id and node_data.key in ('command', 'args', 'file', 'time', 'seconds')
    ) as data
  from millrace.node_now now
  where now.id = any(${'ids'})
`
