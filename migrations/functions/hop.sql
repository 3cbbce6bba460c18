-- The step of a chain: one success that releases one task or none, while nothing else is to be done. What `finish`,
-- `settle`, `unblock` and `lease` do for many is here a few statements on single rows, which are far cheaper to set up,
-- and the released task goes from waiting to running at once. Answers as `step` does; null: nothing was done, and the
-- ordinary way is to be gone.
create function millrace.hop(
  p_holder int, p_id bigint, p_epoch int, p_output jsonb,
  p_lanes int[], p_from_priority int[], p_from_order bigint[], p_limit int, p_to_priority int[]
)
returns json
language plpgsql as $$
declare
  v_due        timestamptz;
  v_has_more   boolean;
  v_ready_at   timestamptz;
  v_started_at timestamptz;
  v_failures   smallint;
  v_deaths     smallint;
  v_dependents bigint[];
  v_task       json;
begin
  if current_setting('transaction_isolation') <> 'read committed' then perform millrace.insist_read_committed(); end if;
  delete from millrace.live l
  where l.ctid = any(array(
    select r.ctid
    from millrace.live r
    where r.id = p_id and r.holder = p_holder and r.epoch = p_epoch and r.state = 'running' and r.cancel_cause is null
      and r.gates_held = 0 and not r.is_rerun
      and (select e.dead_at is null from millrace.dispatcher e where e.id = p_holder)
    for update skip locked
  ))
  returning l.ready_at, l.started_at, l.failures, l.deaths into v_ready_at, v_started_at, v_failures, v_deaths;
  if not found then return null; end if;

  insert into millrace.done (id, ready_at, started_at, holder, epoch, state, failures, deaths, output)
  values (p_id, v_ready_at, v_started_at, p_holder, p_epoch, 'succeeded', v_failures, v_deaths, p_output)
  -- A statement after the one that locked the task, as `settle` explains. Negative: the condition is not met.
  returning (
    select array_agg(case when e.condition in ('succeeded', 'finished') then e.dependent else -e.dependent end)
    from millrace.edge e
    where e.prerequisite = p_id
  ), (select d.not_before from millrace.live d where d.state = 'delayed' order by d.not_before limit 1),
  -- What is pending comes first, and what became ready before.
  exists (select 1 from millrace.effect) or exists (
    select 1
    from unnest(p_lanes, p_from_priority, p_from_order, p_to_priority) m(lane, from_priority, from_order, to_priority)
      cross join lateral (
        select 1
        from millrace.live o
        where o.state = 'ready' and o.gate is null and o.lane = m.lane
          and (o.priority, o.ready_order) > (m.from_priority, m.from_order)
          and o.priority <= coalesce(m.to_priority, 2147483647)
        limit 1
      ) o
  )
  into v_dependents, v_due, v_has_more;
  v_has_more := v_has_more or coalesce(v_due <= clock_timestamp(), false);
  if not v_has_more and cardinality(v_dependents) = 1 and v_dependents[1] > 0 then
    update millrace.live l
    set unmet = 0, state = 'running', holder = p_holder, epoch = l.epoch + 1, ready_order = nextval('millrace.ready_order'),
        ready_at = clock_timestamp(), started_at = clock_timestamp()
    from millrace.task t
    where t.id = v_dependents[1] and l.ctid = any(array(
      select r.ctid
      from millrace.live r
      where r.id = v_dependents[1] and r.unmet = 1 and r.state = 'waiting' and r.lane = any(p_lanes) and r.not_before is null
        and r.gates is null and not r.supersedes
      for no key update skip locked
    ))
    returning json_build_array(
      l.id::text, l.epoch, l.lane, l.priority, l.ready_order::text, l.failures, l.deaths, t.scope, t.key, t.creator::text, t.payload
    )
    into v_task;
  end if;
  if v_has_more or (v_dependents is not null and v_task is null) then
    return millrace.lease(
      p_holder, array[p_id], millrace.settle(array[p_id], 'succeeded'), null, p_lanes, p_from_priority, p_from_order, p_limit, p_to_priority
    );
  end if;
  insert into millrace.outbox (succeeded, readied, claimed, holder) values (array[p_id], v_dependents, v_dependents, p_holder);
  if v_due is null and v_task is not null then return json_build_object('task', v_task); end if;
  return json_build_object(
    'accepted', null, 'is_alive', true, 'has_effects', false, 'due_seconds', extract(epoch from v_due - clock_timestamp()),
    'task', v_task
  );
end $$;
