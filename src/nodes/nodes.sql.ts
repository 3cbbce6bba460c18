// Statements of the tree.
import { array, bool, float8, int4, int8, jsonb, many, nullable, one, run, text, timestamptz } from '../db/index.ts'

/**
 * Nodes are added, moved and removed one after another, and an `if` chooses among its children meanwhile or after: the
 * lock lasts until the transaction ends. So ids become visible in their order, and no child is missed.
 */
export const lockTree = run('nodes.lock_tree', {})`
  select pg_advisory_xact_lock(7420004)
`

export const drawIds = one('nodes.draw_ids', { count: int4 }, { ids: array(int8) })`
  select array(select nextval('millrace.node_id') from generate_series(1, ${'count'}::int)) as ids
`

export const metadata = {
  id: int8,
  parent: nullable(int8),
  task: int8,
  version: int4,
  type: text,
  run_if: nullable(text),
  branch: nullable(text),
  created_at: timestamptz,
  state: text,
  started_at: nullable(timestamptz),
  finished_at: nullable(timestamptz),
}

export const readNodes = many(
  'nodes.read',
  { ids: array(int8) },
  {
    ...metadata,
    begun_epoch: nullable(int4),
    was_stopped: bool,
    output: nullable(jsonb),
    error: nullable(jsonb),
    cause: nullable(text),
    actor: nullable(text),
  },
)`
  select id, parent, task, version, type, run_if, branch, created_at, state, started_at, finished_at, begun_epoch,
    was_stopped, output, error, cause, actor
  from millrace.node_now
  where id = any(${'ids'})
  order by id
`

export const listing = {
  after: int8,
  limit: int4,
  types: nullable(array(text)),
  states: nullable(array(text)),
}

export const listNodes = many('nodes.list', listing, metadata)`
  select id, parent, task, version, type, run_if, branch, created_at, state, started_at, finished_at
  from millrace.node_now
  where id > ${'after'}
    and (${'types'}::text[] is null or type = any(${'types'}))
    and (${'states'}::text[] is null or state = any(${'states'}))
  order by id
  limit ${'limit'}::int
`

export const listChildren = many('nodes.list_children', { ...listing, parent: int8 }, metadata)`
  select id, parent, task, version, type, run_if, branch, created_at, state, started_at, finished_at
  from millrace.node_now
  where parent = ${'parent'}
    and id > ${'after'}
    and (${'types'}::text[] is null or type = any(${'types'}))
    and (${'states'}::text[] is null or state = any(${'states'}))
  order by id
  limit ${'limit'}::int
`

export const listTop = many('nodes.list_top', listing, metadata)`
  select id, parent, task, version, type, run_if, branch, created_at, state, started_at, finished_at
  from millrace.node_now
  where parent is null
    and id > ${'after'}
    and (${'types'}::text[] is null or type = any(${'types'}))
    and (${'states'}::text[] is null or state = any(${'states'}))
  order by id
  limit ${'limit'}::int
`

/** For states in which a task is alive: looks through what is unfinished, however much has ended. */
export const listUnfinished = many('nodes.list_unfinished', listing, metadata)`
  select id, parent, task, version, type, run_if, branch, created_at, state, started_at, finished_at
  from millrace.node_now
  where task in (select live.id from millrace.live)
    and id > ${'after'}
    and (${'types'}::text[] is null or type = any(${'types'}))
    and state = any(${'states'})
  order by id
  limit ${'limit'}::int
`

/** `values[i]` is the data of `data_nodes[i]` under `keys[i]`. */
export const insertNodes = run('nodes.insert', {
  ids: array(int8),
  parents: array(nullable(int8)),
  tasks: array(int8),
  types: array(text),
  run_ifs: array(nullable(text)),
  branches: array(nullable(text)),
  data_nodes: array(int8),
  keys: array(text),
  values: array(jsonb),
})`
  with added as (
    insert into millrace.node (id, parent, task, type, run_if, branch)
    select item.id, item.parent, item.task, item.type, item.run_if, item.branch
    from unnest(
      ${'ids'}::bigint[], ${'parents'}::bigint[], ${'tasks'}::bigint[], ${'types'}::text[], ${'run_ifs'}::text[],
      ${'branches'}::text[]
    ) item(id, parent, task, type, run_if, branch)
  )
  insert into millrace.node_data (node, key, value)
  select item.node, item.key, item.value
  from unnest(${'data_nodes'}::bigint[], ${'keys'}::text[], ${'values'}::jsonb[]) item(node, key, value)
`

/** Keeps others from changing the node until the transaction ends. */
export const lockNode = many('nodes.lock', { id: int8 }, { id: int8 })`
  select id from millrace.node where id = ${'id'} for update
`

export const updateNode = one(
  'nodes.update',
  { id: int8, type: text, parent: nullable(int8), run_if: nullable(text), branch: nullable(text) },
  { version: int4 },
)`
  update millrace.node
  set type = ${'type'}, parent = ${'parent'}, run_if = ${'run_if'}, branch = ${'branch'}, version = version + 1
  where id = ${'id'}
  returning version
`

/**
 * The node and everything below it; without a state where a retention rule has deleted the task. `offset 0` keeps the
 * planner from joining the other way round: over the whole table, for every level.
 */
export const readSubtree = many('nodes.read_subtree', { id: int8 }, { id: int8, task: int8, state: nullable(text) })`
  with recursive subtree (id) as (
    select node.id from millrace.node where node.id = ${'id'}
    union all
    select child.id
    from subtree cross join lateral (select node.id from millrace.node where node.parent = subtree.id offset 0) child
  )
  select node.id, node.task, now.state
  from subtree join millrace.node on node.id = subtree.id left join millrace.node_now now on now.id = subtree.id
  order by node.id
`

export const deleteNodes = run('nodes.delete', { ids: array(int8) })`
  delete from millrace.node where id = any(${'ids'})
`

/** Those of the nodes that are `above` themselves, or have it above them. */
export const findBelow = many('nodes.find_below', { ids: array(int8), above: int8 }, { id: int8 })`
  with recursive walk (id, at) as (
    select asked.id, asked.id from unnest(${'ids'}::bigint[]) asked(id)
    union
    select walk.id, node.parent
    from walk cross join lateral (select node.parent from millrace.node where node.id = walk.at offset 0) node
    where node.parent is not null and walk.at <> ${'above'}
  )
  select distinct walk.id from walk where walk.at = ${'above'}
`

/** The children that an `if` has not chosen, and whose tasks are not over. */
export const findUnchosen = many('nodes.find_unchosen', { parent: int8, chosen: text }, { task: int8 })`
  select node.task
  from millrace.node join millrace.live on live.id = node.task
  where node.parent = ${'parent'} and coalesce(node.branch, 'then') <> ${'chosen'}
`

export const findUnfinished = many('nodes.find_unfinished', { tasks: array(int8) }, { task: int8 })`
  select live.id as task from millrace.live where live.id = any(${'tasks'})
`

/** Whether this attempt of the node's task is under way. */
export const isUnderWay = one('nodes.is_under_way', { id: int8, epoch: int4 }, { is_so: bool })`
  select exists (
    select 1
    from millrace.node join millrace.live on live.id = node.task
    where node.id = ${'id'} and live.epoch = ${'epoch'} and live.state = 'running'
  ) as is_so
`

/**
 * Says that attempts begin their work, before they do, and answers what the work is: whatever happens to the worker then,
 * the next attempt knows that there was one. An attempt that is not under way any more, or is to stop, gets no answer.
 *
 * `earlier` is how the attempt that last began left this work unfinished. One that was handed back or whose lease was
 * lost has come to no outcome.
 */
export const beginWork = many(
  'nodes.begin_work',
  { tasks: array(int8), epochs: array(int4), keys: array(text) },
  {
    task: int8,
    id: int8,
    type: text,
    earlier: nullable(text),
    earlier_epoch: nullable(int4),
    begun_seconds: float8,
    now: timestamptz,
    data: nullable(jsonb),
  },
)`
  with mine as (
    select node.id, node.task, asked.epoch, live.started_at, node.begun_epoch as earlier_epoch, unfinished.outcome as earlier
    from unnest(${'tasks'}::bigint[], ${'epochs'}::int[]) asked(task, epoch)
      join millrace.node on node.task = asked.task
      -- One look for each: as a plain join it may be planned as a walk over all that ran since the last vacuum.
      cross join lateral (
        select started_at from millrace.live
        where id = asked.task and epoch = asked.epoch and state = 'running' and cancel_cause is null
        offset 0
      ) live
      left join lateral millrace.unfinished_work(node.task, node.begun_epoch) unfinished on true
    order by node.id
    for update of node
  ),
  begun as (
    update millrace.node
    set begun_epoch = mine.epoch,
        begun_at    = case when mine.earlier is null then mine.started_at else node.begun_at end
    from mine
    where node.id = mine.id
    returning node.id, node.type, node.begun_at
  )
  select mine.task, mine.id, begun.type, mine.earlier, mine.earlier_epoch,
    extract(epoch from clock_timestamp() - begun.begun_at)::float8 as begun_seconds, clock_timestamp() as now,
    (
      select jsonb_object_agg(node_data.key, node_data.value)
      from millrace.node_data
      where node_data.node = mine.id and node_data.key = any(${'keys'})
    ) as data
  from mine join begun on begun.id = mine.id
`
