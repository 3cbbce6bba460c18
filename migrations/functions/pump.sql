-- Applies effects that earlier transactions left, and those that applying them brings about. Never waits for a lock:
-- what cannot be applied now stays, marked with this transaction so that it does not spin on it. Bounded, so that a
-- long consequence is spread over several transactions. Answers how many tasks can be claimed.
create function millrace.pump() returns int
language plpgsql as $$
declare
  v_kinds     millrace.effect_kind[];
  v_refs      bigint[];
  v_counts    int[];
  v_culprits  bigint[];
  v_a         bigint[];
  v_b         bigint[];
  v_n         int[];
  v_claimable int := 0;
begin
  for v_round in 1 .. 50 loop
    with taken as (
      delete from millrace.effect
      where ctid = any(array(
        select e.ctid
        from millrace.effect e
        where e.stalled is distinct from pg_current_xact_id()
        order by e.id
        limit 1000
        for update skip locked
      ))
      returning id, kind, ref, n, culprit
    )
    select array_agg(s.kind), array_agg(s.ref), array_agg(s.n), array_agg(s.culprit)
    into v_kinds, v_refs, v_counts, v_culprits
    from (
      -- Of what a limit is to be, the last holds.
      select t.kind, t.ref, coalesce((array_agg(t.n order by t.id desc) filter (where t.kind = 'capacity'))[1], sum(t.n))::int as n, t.culprit
      from taken t
      group by t.kind, t.ref, t.culprit
      order by t.kind, t.ref
    ) s;
    exit when v_kinds is null;

    if 'unblock' = any(v_kinds) then
      select array_agg(x.ref), array_agg(x.n) into v_a, v_n
      from unnest(v_kinds, v_refs, v_counts) x(kind, ref, n) where x.kind = 'unblock';
      v_a := millrace.unblock(v_a, v_n);
      if v_a is not null then
        insert into millrace.outbox (readied) values (v_a);
        v_claimable := v_claimable + cardinality(v_a);
      end if;
    end if;

    if 'skip' = any(v_kinds) then
      select array_agg(x.ref), array_agg(x.culprit) into v_a, v_b
      from unnest(v_kinds, v_refs, v_culprits) x(kind, ref, culprit) where x.kind = 'skip';
      v_claimable := v_claimable + millrace.skip_doomed(v_a, v_b);
    end if;

    if 'supersede' = any(v_kinds) then
      select array_agg(x.ref) into v_a from unnest(v_kinds, v_refs) x(kind, ref) where x.kind = 'supersede';
      v_claimable := v_claimable + millrace.supersede(v_a);
    end if;

    if 'complete' = any(v_kinds) then
      select array_agg(x.ref) into v_a from unnest(v_kinds, v_refs) x(kind, ref) where x.kind = 'complete';
      v_claimable := v_claimable + millrace.complete(v_a);
    end if;

    if 'rerun' = any(v_kinds) then
      select array_agg(x.ref), array_agg(x.culprit) into v_a, v_b
      from unnest(v_kinds, v_refs, v_culprits) x(kind, ref, culprit) where x.kind = 'rerun';
      v_claimable := v_claimable + millrace.rerun_dependents(v_a, v_b);
    end if;

    if 'capacity' = any(v_kinds) then
      select array_agg(x.ref), array_agg(x.n) into v_a, v_n
      from unnest(v_kinds, v_refs, v_counts) x(kind, ref, n) where x.kind = 'capacity';
      perform millrace.set_capacities(v_a::int[], v_n, false);
    end if;

    if 'gate' = any(v_kinds) then
      select array_agg(x.ref), array_agg(x.n) into v_a, v_n
      from unnest(v_kinds, v_refs, v_counts) x(kind, ref, n) where x.kind = 'gate';
      v_claimable := v_claimable + millrace.open_gates(v_a::int[], v_n);
    end if;
  end loop;
  return v_claimable;
end $$;

-- Lets so many in at once from now on; there may be room for some that queue. Never waits: what is locked stays to be done.
-- p_is_new: it was asked for just now, and replaces what was asked for before. Answers whether anything changes.
create function millrace.set_capacities(p_gates int[], p_capacities int[], p_is_new boolean) returns boolean
language plpgsql as $$
declare
  v_gates      int[];
  v_capacities int[];
  v_locked     int[];
begin
  select array_agg(x.gate), array_agg(x.capacity) into v_gates, v_capacities
  from unnest(p_gates, p_capacities) x(gate, capacity)
  where x.capacity <> (select g.capacity from millrace.gate g where g.id = x.gate);
  if v_gates is null then return false; end if;
  v_locked := array(select g.id from millrace.gate g where g.id = any(v_gates) order by g.id for update skip locked);
  update millrace.gate g
  set capacity = x.capacity
  from unnest(v_gates, v_capacities) x(gate, capacity)
  where g.id = x.gate and g.id = any(v_locked);
  if p_is_new then
    delete from millrace.effect
    where ctid = any(array(
      select e.ctid from millrace.effect e where e.kind = 'capacity' and e.ref = any(v_gates) for update skip locked
    ));
  end if;
  insert into millrace.effect (kind, ref) select 'gate', x from unnest(v_locked) x;
  insert into millrace.effect (kind, ref, n, stalled)
  select 'capacity', x.gate, x.capacity, pg_current_xact_id()
  from unnest(v_gates, v_capacities) x(gate, capacity)
  where not (x.gate = any(v_locked))
    and (p_is_new or not exists (select 1 from millrace.effect e where e.kind = 'capacity' and e.ref = x.gate));
  return true;
end $$;

-- Ends milestones that have become ready: they succeed by themselves.
create function millrace.complete(p_ids bigint[]) returns int
language plpgsql as $$
declare
  v_ids bigint[];
begin
  v_ids := array(
    select l.id
    from millrace.live l
    where l.id = any(p_ids) and l.state = 'ready' and l.lane is null and l.gate is null
    order by l.id
    for update skip locked
  );
  if cardinality(v_ids) < cardinality(p_ids) then
    insert into millrace.effect (kind, ref, stalled)
    select 'complete', l.id, pg_current_xact_id()
    from millrace.live l
    where l.id = any(p_ids) and not (l.id = any(v_ids)) and l.state = 'ready' and l.lane is null and l.gate is null;
  end if;
  if cardinality(v_ids) = 0 then return 0; end if;
  return millrace.conclude(v_ids, 'succeeded', null, null, null);
end $$;
