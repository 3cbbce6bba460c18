-- Adds tasks with their edges, in the caller's transaction: all of them or, when anything is wrong, none.
--
-- An edge's dependent is a 1-based position in this call; its prerequisite is the id of an existing task, or minus a
-- position in this call; its condition is succeeded where none is given. The caller has made sure that an item names no
-- edge twice and that edges within the call close no cycle; with an existing prerequisite a new task cannot. Gates come in
-- the order in which they are passed, the same for all tasks. A key that exists in its scope answers the task that has it.
-- Payloads come as lines of JSON, of which null is none; without scopes all are of the default one. Of each limit that is
-- asked for, p_limits is its gate and p_capacities how many it is to let in at once from now on.
create function millrace.add(
  p_lanes int[], p_scopes text[], p_payloads text, p_priorities int[], p_keys text[], p_max_attempts smallint[],
  p_not_before timestamptz[], p_delays float8[], p_held_by text[],
  p_edge_items int[], p_edge_prerequisites bigint[], p_edge_conditions text[],
  p_cancel_items int[], p_cancel_targets bigint[], p_cancel_chains boolean[],
  p_gate_items int[], p_gates int[], p_limits int[], p_capacities int[],
  p_creator bigint, p_actor text,
  out ids bigint[], out existing bigint[]
)
language plpgsql as $$
declare
  v_count         int := cardinality(p_lanes);
  v_scopes        text[];
  v_payloads      jsonb[];
  v_ids           bigint[];
  v_old           bigint[];
  v_unmet         int[];
  v_supersedes    boolean[];
  v_gates         text[];
  v_items         int[];
  v_prerequisites bigint[];
  v_conditions    text[];
  v_doomed        int[];
  v_culprits      bigint[];
  v_special       bigint[];
  v_created       bigint[];
  v_readied       bigint[];
  v_claimable     int;
  v_has_changed   boolean := false;
  v_row           record;
begin
  -- What was added or has ended since the snapshot would not exist or be unfinished, and sleepers would not be woken.
  if current_setting('transaction_isolation') <> 'read committed' then perform millrace.insist_read_committed(); end if;
  if num_nulls(p_keys, p_not_before, p_delays, p_held_by, p_cancel_items, p_gate_items) = 6 then
    ids := millrace.add_simple(
      p_lanes, p_scopes, p_payloads, p_priorities, p_max_attempts, p_edge_items, p_edge_prerequisites, p_edge_conditions, p_creator, p_actor
    );
    return;
  end if;
  v_ids := array(select nextval('millrace.task_id') from generate_series(1, v_count));
  v_scopes := coalesce(p_scopes, array_fill('default'::text, array[v_count]));
  v_payloads := array(
    select nullif(x.payload::jsonb, 'null') from string_to_table(p_payloads, E'\n') with ordinality x(payload, n) order by x.n
  );

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
    from unnest(v_ids, p_lanes, p_priorities, p_max_attempts, v_supersedes, v_gates, v_scopes, v_payloads)
      x(id, lane, priority, max_attempts, supersedes, gates, scope, payload);
  else
    -- In the order of their keys, so that two calls with the same keys do not wait for each other crosswise.
    insert into millrace.task (id, creator, lane, priority, max_attempts, supersedes, gates, scope, key, actor, payload)
    select x.id, p_creator, x.lane, coalesce(x.priority, 0), coalesce(x.max_attempts, 20), coalesce(x.supersedes, false),
      x.gates::int[], x.scope, x.key, p_actor, x.payload
    from unnest(v_ids, p_lanes, p_priorities, p_max_attempts, v_supersedes, v_gates, v_scopes, p_keys, v_payloads)
      x(id, lane, priority, max_attempts, supersedes, gates, scope, key, payload)
    order by x.scope, x.key
    on conflict (scope, key) where key is not null do nothing;
    v_old := array(
      select case when x.key is not null then (
        select t.id from millrace.task t where t.scope = x.scope and t.key = x.key and t.id <> x.id
      ) end
      from unnest(v_ids, v_scopes, p_keys) with ordinality x(id, scope, key, n)
      order by x.n
    );
    select x.scope, x.key, x.old, coalesce((select m.kind from millrace.lane m where m.id = t.lane), 'milestone') as kind
    into v_row
    from unnest(v_old, v_scopes, p_keys, p_lanes, v_payloads) x(old, scope, key, lane, payload)
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

  if p_edge_items is not null then
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
  end if;
  if v_items is not null then
    select c.unmet, c.doomed, c.culprits into v_unmet, v_doomed, v_culprits
    from millrace.count_unmet(v_items, v_prerequisites, v_conditions) c;
    perform millrace.add_edges(v_ids, v_items, v_prerequisites, v_conditions);
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
      select y.id, y.lane, y.priority, coalesce(y.unmet, 0) as unmet, y.max_attempts, y.supersedes, y.gates, y.held_by, y.old,
        coalesce(y.not_before, clock_timestamp() + make_interval(secs => y.delay)) as not_before,
        coalesce(y.unmet, 0) = 0 and y.lane is not null and y.not_before is null and y.delay is null and y.supersedes is not true
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
  if p_limits is not null then v_has_changed := millrace.set_capacities(p_limits, p_capacities, true); end if;
  if v_special is not null then v_claimable := v_claimable + millrace.make_ready(v_special); end if;
  if v_doomed is not null then
    insert into millrace.effect (kind, ref, culprit) select 'skip', v_ids[x.item], x.culprit from unnest(v_doomed, v_culprits) x(item, culprit);
  end if;
  if v_special is not null or v_doomed is not null or v_has_changed then v_claimable := v_claimable + millrace.pump(); end if;
  if v_claimable > 0 then perform millrace.wake(); end if;

  ids := case when v_old is null then v_ids else array(
    select coalesce(x.old, x.id) from unnest(v_old, v_ids) with ordinality x(old, id, n) order by x.n
  ) end;
  existing := v_old;
end $$;

-- Adds tasks that have nothing but edges: both of their rows in one statement.
create function millrace.add_simple(
  p_lanes int[], p_scopes text[], p_payloads text, p_priorities int[], p_max_attempts smallint[],
  p_edge_items int[], p_edge_prerequisites bigint[], p_edge_conditions text[], p_creator bigint, p_actor text
) returns bigint[]
language plpgsql as $$
declare
  v_unmet     int[];
  v_doomed    int[];
  v_culprits  bigint[];
  v_ids       bigint[];
  v_readied   bigint[];
  v_complete  bigint[];
  v_claimable int;
begin
  if p_edge_items is not null then
    select c.unmet, c.doomed, c.culprits into v_unmet, v_doomed, v_culprits
    from millrace.count_unmet(p_edge_items, p_edge_prerequisites, p_edge_conditions) c;
  end if;
  with item as materialized (
    select nextval('millrace.task_id') as id, clock_timestamp() as at, x.lane, coalesce(x.priority, 0) as priority,
      coalesce(x.max_attempts, 20) as max_attempts, coalesce(x.scope, 'default') as scope, nullif(x.payload::jsonb, 'null') as payload,
      coalesce(x.unmet, 0) as unmet, coalesce(x.unmet, 0) = 0 and x.lane is not null as is_ready
    from rows from (unnest(p_lanes, p_scopes, p_priorities, p_max_attempts, v_unmet), string_to_table(p_payloads, E'\n'))
      x(lane, scope, priority, max_attempts, unmet, payload)
  ),
  asked as (
    insert into millrace.task (id, created_at, creator, lane, priority, max_attempts, scope, actor, payload)
    select i.id, i.at, p_creator, i.lane, i.priority, i.max_attempts, i.scope, p_actor, i.payload from item i
  ),
  born as (
    insert into millrace.live (id, ready_order, ready_at, unmet, lane, priority, state, max_attempts)
    select i.id, case when i.is_ready then nextval('millrace.ready_order') end, case when i.is_ready then i.at end, i.unmet, i.lane, i.priority,
      case when i.is_ready then 'ready' else 'waiting' end::millrace.state, i.max_attempts
    from item i
  )
  select array_agg(i.id), array_agg(i.id) filter (where i.is_ready), array_agg(i.id) filter (where i.unmet = 0 and not i.is_ready)
  into v_ids, v_readied, v_complete
  from item i;
  if v_ids is null then return null; end if;
  insert into millrace.outbox (created, readied) values (v_ids, v_readied);
  v_claimable := coalesce(cardinality(v_readied), 0);
  if p_edge_items is not null then
    perform millrace.add_edges(v_ids, p_edge_items, p_edge_prerequisites, p_edge_conditions);
  end if;
  if v_complete is not null then v_claimable := v_claimable + millrace.make_ready(v_complete); end if;
  if v_doomed is not null then
    insert into millrace.effect (kind, ref, culprit) select 'skip', v_ids[x.item], x.culprit from unnest(v_doomed, v_culprits) x(item, culprit);
  end if;
  if v_complete is not null or v_doomed is not null then v_claimable := v_claimable + millrace.pump(); end if;
  if v_claimable > 0 then perform millrace.wake(); end if;
  return v_ids;
end $$;

-- The edges of one call of `add`: how many of each position's are not met, counted up to the last that has any, and which
-- positions can never start, because of whom. Keeps prerequisites that exist from ending until this transaction does.
create function millrace.count_unmet(
  p_items int[], p_prerequisites bigint[], p_conditions text[], out unmet int[], out doomed int[], out culprits bigint[]
)
language plpgsql as $$
declare
  v_outside bigint[] := array(select x from unnest(p_prerequisites) x where x > 0);
  v_row     record;
begin
  if cardinality(v_outside) > 0 then perform millrace.lock_prerequisites(v_outside); end if;
  -- None is met of those to tasks that are added by the same call.
  for v_row in select x as item, count(*)::int as n from unnest(p_items) x group by x order by x desc loop
    if unmet is null then unmet := array_fill(0, array[v_row.item]); end if;
    unmet[v_row.item] := v_row.n;
  end loop;
  if cardinality(v_outside) = 0 then return; end if;
  -- A new statement, hence a snapshot taken after the locks: what it reads of the prerequisites stays true.
  for v_row in
    select x.item, count(*) filter (where millrace.is_met(coalesce(x.condition::millrace.condition, 'succeeded'), d.state))::int as met,
      min(d.id) filter (where not millrace.is_met(coalesce(x.condition::millrace.condition, 'succeeded'), d.state)) as culprit
    from unnest(p_items, p_prerequisites, p_conditions) x(item, prerequisite, condition)
      join millrace.done d on d.id = x.prerequisite
    where x.prerequisite > 0
    group by x.item
  loop
    unmet[v_row.item] := unmet[v_row.item] - v_row.met;
    if v_row.culprit is not null then
      doomed := doomed || v_row.item;
      culprits := culprits || v_row.culprit;
    end if;
  end loop;
end $$;

-- Edges among the tasks p_ids of one call, and from them to such as exist, whom the caller has locked.
create function millrace.add_edges(p_ids bigint[], p_items int[], p_prerequisites bigint[], p_conditions text[]) returns void
language plpgsql as $$
begin
  insert into millrace.edge (prerequisite, dependent, condition)
  select case when x.prerequisite > 0 then x.prerequisite else p_ids[-x.prerequisite] end, p_ids[x.item],
    coalesce(x.condition::millrace.condition, 'succeeded')
  from unnest(p_items, p_prerequisites, p_conditions) x(item, prerequisite, condition);
end $$;

-- Numbers for the named gates, made where they are new.
create function millrace.gate_ids(p_names text[], p_capacities int[]) returns int[]
language plpgsql as $$
begin
  insert into millrace.gate (name, capacity)
  select x.name, x.capacity
  from unnest(p_names, p_capacities) x(name, capacity)
  where not exists (select 1 from millrace.gate g where g.name = x.name)
  order by x.name
  on conflict do nothing;
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
