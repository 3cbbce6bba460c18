-- Adds tasks with their edges, in the caller's transaction: all of them or, when anything is wrong, none.
--
-- An edge's dependent is a 1-based position in this call; its prerequisite is the id of an existing task, or minus a
-- position in this call; its condition is succeeded where none is given. The caller has made sure that an item names no
-- edge twice and that edges within the call close no cycle; with an existing prerequisite a new task cannot. Gates come in
-- the order in which they are passed, the same for all tasks. A key that exists in its scope answers the task that has it.
create function millrace.add(
  p_lanes bigint[], p_scopes text[], p_payloads jsonb[], p_priorities int[], p_keys text[], p_max_attempts smallint[],
  p_not_before timestamptz[], p_delays float8[], p_held_by text[],
  p_edge_items int[], p_edge_prerequisites bigint[], p_edge_conditions text[],
  p_cancel_items int[], p_cancel_targets bigint[], p_cancel_chains boolean[],
  p_gate_items int[], p_gates int[],
  p_creator bigint, p_actor text,
  out ids bigint[], out existing bigint[]
)
language plpgsql as $$
declare
  v_count         int := cardinality(p_lanes);
  v_ids           bigint[];
  v_old           bigint[];
  v_unmet         int[];
  v_supersedes    boolean[];
  v_gates         text[];
  v_items         int[];
  v_prerequisites bigint[];
  v_conditions    text[];
  v_outside       bigint[];
  v_doomed        bigint[];
  v_culprits      bigint[];
  v_special       bigint[];
  v_created       bigint[];
  v_readied       bigint[];
  v_claimable     int;
  v_row           record;
begin
  if num_nulls(
    p_keys, p_not_before, p_delays, p_held_by, p_edge_items, p_cancel_items, p_gate_items, array_position(p_lanes, null)
  ) = 8 then
    ids := millrace.add_plain(p_lanes, p_scopes, p_payloads, p_priorities, p_max_attempts, p_creator, p_actor);
    perform millrace.wake();
    return;
  end if;
  v_ids := array(select nextval('millrace.task_id') from generate_series(1, v_count));

  if p_cancel_items is not null then
    v_supersedes := array_fill(false, array[v_count]);
    for v_row in select distinct x as item from unnest(p_cancel_items) x loop
      v_supersedes[v_row.item] := true;
    end loop;
  end if;
  if p_gate_items is not null then
    v_gates := array_fill(null::text, array[v_count]);
    for v_row in
      select x.item, array_agg(x.gate order by x.n)::text as gates
      from unnest(p_gate_items, p_gates) with ordinality x(item, gate, n) group by x.item
    loop
      v_gates[v_row.item] := v_row.gates;
    end loop;
  end if;

  if p_keys is null then
    insert into millrace.task (id, creator, lane, priority, max_attempts, supersedes, gates, scope, actor, payload)
    select x.id, p_creator, x.lane, coalesce(x.priority, 0), coalesce(x.max_attempts, 20), coalesce(x.supersedes, false),
      x.gates::int[], x.scope, p_actor, x.payload
    from unnest(v_ids, p_lanes, p_priorities, p_max_attempts, v_supersedes, v_gates, p_scopes, p_payloads)
      x(id, lane, priority, max_attempts, supersedes, gates, scope, payload);
  else
    -- In the order of their keys, so that two calls with the same keys do not wait for each other crosswise.
    insert into millrace.task (id, creator, lane, priority, max_attempts, supersedes, gates, scope, key, actor, payload)
    select x.id, p_creator, x.lane, coalesce(x.priority, 0), coalesce(x.max_attempts, 20), coalesce(x.supersedes, false),
      x.gates::int[], x.scope, x.key, p_actor, x.payload
    from unnest(v_ids, p_lanes, p_priorities, p_max_attempts, v_supersedes, v_gates, p_scopes, p_keys, p_payloads)
      x(id, lane, priority, max_attempts, supersedes, gates, scope, key, payload)
    order by x.scope, x.key
    on conflict (scope, key) where key is not null do nothing;
    v_old := array(
      select case when x.key is not null then (
        select t.id from millrace.task t where t.scope = x.scope and t.key = x.key and t.id <> x.id
      ) end
      from unnest(v_ids, p_scopes, p_keys) with ordinality x(id, scope, key, n)
      order by x.n
    );
    select x.scope, x.key, x.old, coalesce((select m.kind from millrace.lane m where m.id = t.lane), 'milestone') as kind
    into v_row
    from unnest(v_old, p_scopes, p_keys, p_lanes, p_payloads) x(old, scope, key, lane, payload)
      join millrace.task t on t.id = x.old
    where t.payload is distinct from x.payload
      or (select m.kind from millrace.lane m where m.id = t.lane) is distinct from (select m.kind from millrace.lane m where m.id = x.lane)
    limit 1;
    if found then
      raise exception 'key % of scope % belongs to task % of kind % with another payload', v_row.key, v_row.scope, v_row.old, v_row.kind
        using errcode = 'MR003',
        detail = jsonb_build_object('key', v_row.key, 'scope', v_row.scope, 'task', v_row.old::text)::text;
    end if;
  end if;

  if p_edge_items is null then
    v_unmet := array_fill(0, array[v_count]);
  else
    v_items := p_edge_items;
    v_prerequisites := p_edge_prerequisites;
    v_conditions := p_edge_conditions;
    if v_old is not null then
      -- Two positions may mean one task, and what exists keeps its own edges.
      select array_agg(e.item), array_agg(e.prerequisite), array_agg(e.condition) into v_items, v_prerequisites, v_conditions
      from (
        select distinct x.item, coalesce(case when x.prerequisite < 0 then v_old[-x.prerequisite] end, x.prerequisite) as prerequisite,
          coalesce(x.condition, 'succeeded') as condition
        from unnest(v_items, v_prerequisites, v_conditions) x(item, prerequisite, condition)
        where v_old[x.item] is null
      ) e;
    end if;
    v_outside := array(select x from unnest(v_prerequisites) x where x > 0);
    if cardinality(v_outside) > 0 then perform millrace.lock_prerequisites(v_outside); end if;
    insert into millrace.edge (prerequisite, dependent, condition)
    select case when x.prerequisite > 0 then x.prerequisite else v_ids[-x.prerequisite] end, v_ids[x.item],
      coalesce(x.condition::millrace.condition, 'succeeded')
    from unnest(v_items, v_prerequisites, v_conditions) x(item, prerequisite, condition);
    -- None is met of those to tasks that are added here.
    v_unmet := array(
      select count(*)::int - 1
      from (select generate_series(1, v_count) union all select unnest(v_items)) e(item)
      group by e.item
      order by e.item
    );
    if cardinality(v_outside) > 0 then
      -- A new statement, hence a snapshot taken after the locks: what it reads of the prerequisites stays true.
      for v_row in
        select x.item, count(*) filter (where millrace.is_met(coalesce(x.condition::millrace.condition, 'succeeded'), d.state))::int as met,
          min(d.id) filter (where not millrace.is_met(coalesce(x.condition::millrace.condition, 'succeeded'), d.state)) as culprit
        from unnest(v_items, v_prerequisites, v_conditions) x(item, prerequisite, condition)
          join millrace.done d on d.id = x.prerequisite
        where x.prerequisite > 0
        group by x.item
      loop
        v_unmet[v_row.item] := v_unmet[v_row.item] - v_row.met;
        if v_row.culprit is not null then
          v_doomed := v_doomed || v_ids[v_row.item];
          v_culprits := v_culprits || v_row.culprit;
        end if;
      end loop;
    end if;
  end if;

  if p_cancel_items is not null then
    select x into v_row
    from unnest(p_cancel_targets) x
    where x > 0 and (select t.id from millrace.task t where t.id = x) is null
    limit 1;
    if found then
      raise exception 'task % does not exist', v_row.x
        using errcode = 'MR002', detail = jsonb_build_object('task', v_row.x::text)::text;
    end if;
    insert into millrace.supersede (task, target, is_chain)
    select v_ids[x.item], coalesce(case when x.target < 0 then coalesce(v_old[-x.target], v_ids[-x.target]) end, x.target),
      coalesce(x.is_chain, false)
    from unnest(p_cancel_items, p_cancel_targets, p_cancel_chains) x(item, target, is_chain)
    where v_old is null or v_old[x.item] is null
    on conflict do nothing;
  end if;

  -- What needs no more than a place in its lane goes there at once; the rest is inserted as waiting and moved on.
  with born as (
    insert into millrace.live (
      id, ready_order, ready_at, not_before, unmet, lane, priority, state, max_attempts, supersedes, gates, held_by
    )
    select x.id,
      case when x.is_plain then nextval('millrace.ready_order') end,
      case when x.is_plain then clock_timestamp() end,
      x.not_before, x.unmet, x.lane, coalesce(x.priority, 0),
      case when x.held_by is not null then 'held' when x.is_plain then 'ready' else 'waiting' end::millrace.state,
      coalesce(x.max_attempts, 20), coalesce(x.supersedes, false), x.gates::int[], x.held_by
    from (
      select y.id, y.lane, y.priority, y.unmet, y.max_attempts, y.supersedes, y.gates, y.held_by, y.old,
        coalesce(y.not_before, clock_timestamp() + make_interval(secs => y.delay)) as not_before,
        y.unmet = 0 and y.lane is not null and y.not_before is null and y.delay is null and y.supersedes is not true
          and y.gates is null and y.held_by is null as is_plain
      from unnest(v_ids, p_lanes, p_priorities, v_unmet, p_not_before, p_delays, p_max_attempts, v_supersedes, v_gates, p_held_by, v_old)
        y(id, lane, priority, unmet, not_before, delay, max_attempts, supersedes, gates, held_by, old)
    ) x
    where x.old is null
    returning id, state, unmet
  )
  select array_agg(b.id) filter (where b.state = 'waiting' and b.unmet = 0), array_agg(b.id), array_agg(b.id) filter (where b.state = 'ready')
  into v_special, v_created, v_readied
  from born b;
  if v_created is not null then
    insert into millrace.outbox (created, readied) values (v_created, v_readied);
  end if;
  v_claimable := coalesce(cardinality(v_readied), 0);
  if p_held_by is not null then
    with held as (
      insert into millrace.event (task, name, prior, next, actor)
      select x.id, 'held', 'waiting', 'held', x.held_by
      from unnest(v_ids, p_held_by, v_old) x(id, held_by, old)
      where x.held_by is not null and x.old is null
      returning task, prior, actor
    )
    insert into millrace.outbox (name, next, tasks, priors, actor)
    select 'held', 'held', array_agg(h.task), array_agg(h.prior), h.actor from held h group by h.actor;
  end if;
  if v_special is not null then v_claimable := v_claimable + millrace.make_ready(v_special); end if;
  if v_doomed is not null then
    insert into millrace.effect (kind, ref, culprit) select 'skip', x.id, x.culprit from unnest(v_doomed, v_culprits) x(id, culprit);
  end if;
  if v_special is not null or v_doomed is not null then v_claimable := v_claimable + millrace.pump(); end if;
  if v_claimable > 0 then perform millrace.wake(); end if;

  ids := case when v_old is null then v_ids else array(
    select coalesce(x.old, x.id) from unnest(v_old, v_ids) with ordinality x(old, id, n) order by x.n
  ) end;
  existing := v_old;
end $$;

-- Adds tasks that can start at once: one statement.
create function millrace.add_plain(
  p_lanes bigint[], p_scopes text[], p_payloads jsonb[], p_priorities int[], p_max_attempts smallint[], p_creator bigint, p_actor text
) returns bigint[]
language plpgsql as $$
declare
  v_ids bigint[];
begin
  with item as materialized (
    select nextval('millrace.task_id') as id, clock_timestamp() as at, x.lane, coalesce(x.priority, 0) as priority, coalesce(x.max_attempts, 20) as max_attempts,
      x.scope, x.payload
    from unnest(p_lanes, p_scopes, p_payloads, p_priorities, p_max_attempts) x(lane, scope, payload, priority, max_attempts)
  ),
  asked as (
    insert into millrace.task (id, created_at, creator, lane, priority, max_attempts, scope, actor, payload)
    select i.id, i.at, p_creator, i.lane, i.priority, i.max_attempts, i.scope, p_actor, i.payload from item i
  ),
  born as (
    insert into millrace.live (id, ready_order, ready_at, lane, priority, state, max_attempts)
    select i.id, nextval('millrace.ready_order'), i.at, i.lane, i.priority, 'ready', i.max_attempts from item i
  )
  select array_agg(i.id) into v_ids from item i;
  if v_ids is not null then
    insert into millrace.outbox (created, readied) values (v_ids, v_ids);
  end if;
  return v_ids;
end $$;

-- Numbers for the named gates, made where they are new. A limit's capacity is what was last asked for.
create function millrace.gate_ids(p_names text[], p_capacities int[]) returns int[]
language plpgsql as $$
begin
  with changed as (
    insert into millrace.gate (name, capacity)
    select x.name, x.capacity from unnest(p_names, p_capacities) x(name, capacity) order by x.name
    on conflict (name) do update set capacity = excluded.capacity where millrace.gate.capacity <> excluded.capacity
    returning id
  )
  insert into millrace.effect (kind, ref) select 'gate', c.id from changed c;
  -- There may be room for some that queue.
  if found and millrace.pump() > 0 then perform millrace.wake(); end if;
  return array(
    select g.id from unnest(p_names) with ordinality x(name, n) join millrace.gate g on g.name = x.name order by x.n
  );
end $$;

-- Numbers for the lanes of the given queues and kinds, made where they are new.
create function millrace.lane_ids(p_queues text[], p_kinds text[]) returns int[]
language plpgsql as $$
begin
  insert into millrace.lane (queue, kind)
  select distinct x.queue, x.kind
  from unnest(p_queues, p_kinds) x(queue, kind)
  where not exists (select 1 from millrace.lane l where l.queue = x.queue and l.kind = x.kind)
  order by 1, 2
  on conflict do nothing;
  return array(
    select l.id
    from unnest(p_queues, p_kinds) with ordinality x(queue, kind, n)
      join millrace.lane l on l.queue = x.queue and l.kind = x.kind
    order by x.n
  );
end $$;
