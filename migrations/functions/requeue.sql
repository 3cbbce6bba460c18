-- Ends attempts without ending their tasks: a transient error, a wish for "later", a lease lost or handed back.
-- A task that was asked to stop ends as canceled instead; one that has failed or died too often ends as failed.
-- p_outcome is retry, later, handed_back or lease_lost. Answers the state each accepted task went to.
create function millrace.requeue(
  p_holder int, p_ids bigint[], p_epochs int[], p_outcome text, p_delays float8[], p_errors jsonb[], p_max_deaths int default 5
)
returns table (id bigint, state millrace.state)
language plpgsql as $$
#variable_conflict use_column
declare
  v_ids       bigint[];
  v_canceled  bigint[];
  v_failed    bigint[];
  v_died      bigint[];
  v_back      bigint[];
  v_claimable int := 0;
begin
  select array_agg(s.id), array_agg(s.id) filter (where s.cancel_cause is not null),
    array_agg(s.id) filter (where s.cancel_cause is null and p_outcome = 'retry' and s.failures + 1 >= s.max_attempts),
    array_agg(s.id) filter (where s.cancel_cause is null and p_outcome = 'lease_lost' and s.deaths + 1 >= p_max_deaths and (s.deaths = 0 or s.is_begun))
  into v_ids, v_canceled, v_failed, v_died
  from (
    select l.*
    from (select p.id, p.epoch from unnest(p_ids, p_epochs) p(id, epoch) order by p.id) p
      cross join lateral (
        select r.*
        from millrace.live r
        where r.id = p.id and r.holder = p_holder and r.epoch = p.epoch and r.state = 'running'
        for update skip locked
      ) l
  ) s;
  if v_ids is null then return; end if;
  if v_canceled is not null then
    v_claimable := v_claimable + millrace.conclude(v_canceled, 'canceled', null, null, null);
  end if;
  if v_died is not null then
    update millrace.live l set deaths = l.deaths + 1 where l.id = any(v_died);
    v_claimable := v_claimable + millrace.conclude(v_died, 'failed', format('its dispatcher died %s times while it ran', p_max_deaths), null, null,
      jsonb_build_object('code', 'died_too_often', 'category', 'permanent', 'message', format('its dispatcher died %s times while it ran', p_max_deaths)));
  end if;
  if v_failed is not null then
    update millrace.live l set failures = l.failures + 1 where l.id = any(v_failed);
    for v_row in 1 .. cardinality(v_failed) loop
      v_claimable := v_claimable + millrace.conclude(array[v_failed[v_row]], 'failed', 'no attempts left', null, null,
        p_errors[array_position(p_ids, v_failed[v_row])]);
    end loop;
  end if;
  v_back := array(
    select x from unnest(v_ids) x
    where not (x = any(coalesce(v_canceled, '{}') || coalesce(v_failed, '{}') || coalesce(v_died, '{}')))
  );
  if cardinality(v_back) > 0 then
    v_claimable := v_claimable + millrace.put_back(v_back, p_ids, p_outcome, p_delays, p_errors);
  end if;
  if exists (select 1 from millrace.effect) then v_claimable := v_claimable + millrace.pump(); end if;
  if v_claimable > 0 then perform millrace.wake(); end if;
  return query
  select x, coalesce((select l.state from millrace.live l where l.id = x), (select d.state from millrace.done d where d.id = x))
  from unnest(v_ids) x;
end $$;

-- The part of requeue for tasks that go on: p_back are locked rows, the other arrays are as given to requeue.
create function millrace.put_back(p_back bigint[], p_ids bigint[], p_outcome text, p_delays float8[], p_errors jsonb[]) returns int
language plpgsql as $$
declare
  v_free      bigint[];
  v_claimable int := 0;
begin
  insert into millrace.effect (kind, ref, n)
  select 'gate', held.gate, count(*)
  from millrace.live l cross join lateral unnest(l.gates[1 : l.gates_held]) held(gate)
  where l.id = any(p_back)
  group by held.gate;

  with ended as materialized (
    select l.id, l.epoch, l.ready_at, l.started_at, l.holder, l.unmet, x.delay, x.error,
      case when x.delay > 0 and l.unmet = 0 then 'delayed' else 'waiting' end::millrace.state as next,
      -- What was claimed and not begun goes back to its place in the line.
      p_outcome = 'handed_back' and l.unmet = 0 and l.lane is not null and l.gates is null and not l.supersedes as keeps_place
    from unnest(p_ids, p_delays, p_errors) x(id, delay, error)
      cross join lateral (select r.* from millrace.live r where r.id = x.id offset 0) l
    where x.id = any(p_back)
  ),
  moved as (
    update millrace.live l
    set state      = case when e.keeps_place then 'ready' else 'waiting' end::millrace.state,
        holder     = null,
        ready_at   = case when e.keeps_place then l.ready_at end, -- else kept with the attempt
        lost_by    = case when p_outcome = 'lease_lost' then e.holder end,
        started_at = null,
        gates_held = 0,
        is_begun   = false,
        failures   = l.failures + case when p_outcome = 'retry' then 1 else 0 end,
        deaths     = l.deaths + case when p_outcome = 'lease_lost' and (l.deaths = 0 or l.is_begun) then 1 else 0 end,
        not_before = case when e.delay > 0 then clock_timestamp() + make_interval(secs => e.delay) end
    from ended e
    where l.id = e.id
    returning l.id, l.unmet, l.state
  ),
  kept as (
    insert into millrace.attempt (task, epoch, outcome, ready_at, started_at, holder, next, error)
    select e.id, e.epoch, p_outcome, case when not e.keeps_place then e.ready_at end, e.started_at, e.holder,
      case when e.keeps_place then 'ready' else e.next end, e.error
    from ended e
    returning task, holder, next, error
  ),
  told as (
    insert into millrace.outbox (name, next, tasks, priors, details, holder)
    select p_outcome, k.next, array_agg(k.task), array_fill('running'::millrace.state, array[count(*)::int]),
      case when p_errors is not null then array_agg(k.error - 'stack') end, k.holder
    from kept k
    group by k.next, k.holder
  )
  select array_agg(m.id) filter (where m.unmet = 0 and m.state = 'waiting'), count(*) filter (where m.state = 'ready')
  into v_free, v_claimable
  from moved m;
  if v_free is not null then v_claimable := v_claimable + millrace.make_ready(v_free, true); end if;
  -- A requirement may have become unmeetable while the task ran.
  perform millrace.doom(array(select l.id from millrace.live l where l.id = any(p_back) and l.unmet > 0));
  return v_claimable;
end $$;

-- Puts waiting tasks that have a requirement which can no longer be met on the list to be skipped.
create function millrace.doom(p_ids bigint[]) returns void
language plpgsql as $$
begin
  if cardinality(p_ids) = 0 then return; end if;
  insert into millrace.effect (kind, ref, culprit)
  select 'skip', e.dependent, e.prerequisite
  from millrace.edge e join millrace.done d on d.id = e.prerequisite
  where e.dependent = any(p_ids) and not millrace.is_met(e.condition, d.state);
end $$;
