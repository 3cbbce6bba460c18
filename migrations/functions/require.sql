-- Adds requirements to an existing task. A running task may be given some only by its own attempt (p_holder, p_epoch);
-- it then goes on and waits for them when it asks for "later". Waits for locks, in the order of the ids. Answers how
-- many unmet requirements were added.
--
-- Cycles: every task an edge touches is locked against every other edge that touches it. So when nothing depends on the
-- dependent, or the prerequisites require nothing, no cycle can be closed, not even together with a transaction that
-- runs at the same time. Otherwise the walk upward is done under one lock for all.
create function millrace.require(
  p_dependent bigint, p_prerequisites bigint[], p_conditions text[], p_holder int default null, p_epoch int default null
) returns int
language plpgsql as $$
declare
  v_live  millrace.live;
  v_state millrace.state;
  v_added int;
begin
  perform millrace.insist_read_committed();
  if p_dependent = any(p_prerequisites) then
    raise exception 'task % would wait for itself', p_dependent
      using errcode = 'MR001', detail = jsonb_build_object('path', array[p_dependent::text, p_dependent::text])::text;
  end if;
  perform 1 from millrace.live l where l.id = any(p_prerequisites || p_dependent) order by l.id for no key update;
  -- Adding a task locks what it requires only for key share: wait for those whose edge is not to be seen yet.
  perform 1 from millrace.live l where l.id = p_dependent for update;
  perform millrace.lock_prerequisites(p_prerequisites);
  select * into v_live from millrace.live l where l.id = p_dependent;
  if not found then
    select d.state into v_state from millrace.done d where d.id = p_dependent;
    raise exception 'task % %', p_dependent, coalesce('is ' || v_state || ' and cannot be given requirements', 'does not exist')
      using errcode = case when v_state is null then 'MR002' else 'MR004' end,
        detail = jsonb_build_object('task', p_dependent::text, 'state', v_state)::text;
  end if;
  if v_live.state = 'running' and (v_live.holder, v_live.epoch) is distinct from (p_holder, p_epoch) then
    raise exception 'task % is running: only its own worker can give it requirements', p_dependent
      using errcode = 'MR004', detail = jsonb_build_object('task', p_dependent::text, 'state', 'running')::text;
  end if;
  perform millrace.refuse_cycle(p_dependent, p_prerequisites);

  with asked as (
    select distinct x.prerequisite, x.condition::millrace.condition as condition
    from unnest(p_prerequisites, p_conditions) x(prerequisite, condition)
  ),
  stored as (
    insert into millrace.edge (prerequisite, dependent, condition)
    select a.prerequisite, p_dependent, a.condition from asked a
    on conflict do nothing
    returning prerequisite, condition
  )
  select count(*) into v_added
  from stored s left join millrace.done d on d.id = s.prerequisite
  where not millrace.is_met(s.condition, d.state);
  if v_added > 0 then
    perform millrace.block(array[p_dependent], array[v_added], 'a requirement was added');
    if v_live.state <> 'running' then
      perform millrace.doom(array[p_dependent]);
      if exists (select 1 from millrace.effect) and millrace.pump() > 0 then perform millrace.wake(); end if;
    end if;
  end if;
  return v_added;
end $$;

-- Refuses requirements that close a cycle, through tasks in whatever state: what is over may be asked for again.
--
-- Above what is required there may be a long history, and below the dependent many that wait, but seldom both: so a part
-- of the one and a part of the other are looked at, twice as much each time, until one of them was seen whole.
create function millrace.refuse_cycle(p_dependent bigint, p_prerequisites bigint[]) returns void
language plpgsql as $$
declare
  v_walk  record;
  v_limit int := 64;
begin
  if not exists (select 1 from millrace.edge e where e.prerequisite = p_dependent) then return; end if;
  if not exists (select 1 from millrace.edge e where e.dependent = any(p_prerequisites)) then return; end if;
  perform pg_advisory_xact_lock(7420002);
  loop
    v_limit := v_limit * 2;
    v_walk := millrace.walk_up(p_dependent, p_prerequisites, v_limit);
    exit when v_walk.path is not null or v_walk.is_whole;
    v_walk := millrace.walk_down(p_dependent, p_prerequisites, v_limit);
    exit when v_walk.path is not null or v_walk.is_whole;
  end loop;
  if v_walk.path is null then return; end if;
  raise exception 'a cycle: %', array_to_string(v_walk.path, ' -> ')
    using errcode = 'MR001', detail = jsonb_build_object('path', v_walk.path::text[])::text;
end $$;

-- Looks for the dependent among what the prerequisites require, at p_limit edges at most. Answers the way, from the
-- dependent down to itself, or whether there was nothing more to look at.
create function millrace.walk_up(
  p_dependent bigint, p_prerequisites bigint[], p_limit int, out path bigint[], out is_whole boolean
)
language plpgsql as $$
declare
  v_ids   bigint[];
  v_below bigint[];
  v_at    bigint;
begin
  with recursive above (id, below) as (
    select x, p_dependent from unnest(p_prerequisites) x
    union
    select next.prerequisite, above.id
    from above cross join lateral (
      select e.prerequisite from millrace.edge e where e.dependent = above.id offset 0
    ) next
    where above.id <> p_dependent
  )
  select array_agg(s.id), array_agg(s.below) into v_ids, v_below from (select * from above limit p_limit) s;
  is_whole := cardinality(v_ids) < p_limit;
  if not (p_dependent = any(v_ids)) then return; end if;
  path := array[p_dependent];
  v_at := v_below[array_position(v_ids, p_dependent)];
  while v_at <> p_dependent loop
    path := path || v_at;
    v_at := v_below[array_position(v_ids, v_at)];
  end loop;
  path := path || p_dependent;
end $$;

-- The same from the other end: looks for a prerequisite among what requires the dependent.
create function millrace.walk_down(
  p_dependent bigint, p_prerequisites bigint[], p_limit int, out path bigint[], out is_whole boolean
)
language plpgsql as $$
declare
  v_ids   bigint[];
  v_above bigint[];
  v_at    bigint;
begin
  with recursive below (id, above) as (
    select p_dependent, null::bigint
    union
    select next.dependent, below.id
    from below cross join lateral (
      select e.dependent from millrace.edge e where e.prerequisite = below.id offset 0
    ) next
    where below.id <> all(p_prerequisites)
  )
  select array_agg(s.id), array_agg(s.above) into v_ids, v_above from (select * from below limit p_limit) s;
  is_whole := cardinality(v_ids) < p_limit;
  select x into v_at from unnest(v_ids) x where x = any(p_prerequisites) limit 1;
  if v_at is null then return; end if;
  path := array[p_dependent];
  while v_at <> p_dependent loop
    path := v_at || path;
    v_at := v_above[array_position(v_ids, v_at)];
  end loop;
  path := p_dependent || path;
end $$;
