-- Records the success of tasks that the dispatcher p_holder runs. Those it took, which it answers, must be told to the
-- outbox, and `settle` must follow with them; one that is missing is no longer leased to the caller, was asked to stop,
-- or is locked by someone who adds a dependent just now.
create function millrace.finish(p_holder int, p_ids bigint[], p_epochs int[], p_outputs jsonb[], p_unchanged bigint[]) returns bigint[]
language plpgsql as $$
declare
  v_accepted  bigint[];
  v_has_gates boolean;
  v_reruns    bigint[];
begin
  with mine as materialized (
    select l.tid, p.output
    from unnest(p_ids, p_epochs, p_outputs) p(id, epoch, output)
      -- One look for each, here and in `fail` and `requeue`. As a plain join it would be planned the other way round: all
      -- tasks that run, each compared with all that are given.
      cross join lateral (
        select r.ctid as tid
        from millrace.live r
        where r.id = p.id and r.holder = p_holder and r.epoch = p.epoch and r.state = 'running' and r.cancel_cause is null
        for update skip locked
      ) l
  ),
  gone as (
    delete from millrace.live l
    using mine
    where l.ctid = mine.tid
    returning l.id, l.ready_at, l.started_at, l.holder, l.epoch, l.failures, l.deaths, l.gates_held, l.is_rerun, mine.output
  ),
  kept as (
    insert into millrace.done (id, ready_at, started_at, holder, epoch, state, failures, deaths, output)
    select g.id, g.ready_at, g.started_at, g.holder, g.epoch, 'succeeded', g.failures, g.deaths, g.output from gone g
  )
  select array_agg(g.id), bool_or(g.gates_held > 0), array_agg(g.id) filter (where g.is_rerun)
  into v_accepted, v_has_gates, v_reruns
  from gone g;
  if v_accepted is null then return '{}'; end if;
  if v_has_gates then
    -- A task holds all of its gates while it runs.
    insert into millrace.effect (kind, ref, n)
    select 'gate', held.gate, count(*)
    from millrace.task t cross join lateral unnest(t.gates) held(gate)
    where t.id = any(v_accepted)
    group by held.gate;
  end if;
  if v_reruns is not null then
    perform millrace.spread_rerun(array(select x from unnest(v_reruns) x where not (x = any(coalesce(p_unchanged, '{}')))));
  end if;
  return v_accepted;
end $$;

-- `finish` for one task in a transaction of its own worker's callbacks.
create function millrace.finish_leased(
  p_holder int, p_ids bigint[], p_epochs int[], p_outputs jsonb[], p_unchanged bigint[], out accepted bigint[]
)
language plpgsql as $$
declare
  v_readied   bigint[];
  v_claimable int := 0;
begin
  accepted := millrace.finish(p_holder, p_ids, p_epochs, p_outputs, p_unchanged);
  if cardinality(accepted) > 0 then
    v_readied := millrace.settle(accepted, 'succeeded');
    v_claimable := coalesce(cardinality(v_readied), 0);
    insert into millrace.outbox (succeeded, readied, holder) values (accepted, v_readied, p_holder);
  end if;
  if exists (select 1 from millrace.effect) then v_claimable := v_claimable + millrace.pump(); end if;
  if v_claimable > 0 then perform millrace.wake(); end if;
end $$;
