-- The step of a chain: one success that releases one task or none, while nothing else is to be done. What `finish`,
-- `settle`, `unblock` and `lease` do for many is here a few statements on single rows, which are far cheaper to set up,
-- and the released task goes from waiting to running at once. Answers as `step` does; null: nothing was done, and the
-- ordinary way is to be gone.
create function millrace.hop(
  p_holder int, p_id bigint, p_epoch int, p_output jsonb, p_lanes int[], p_from_priority int[], p_from_order bigint[], p_limit int
)
returns json
language plpgsql as $$
declare
  v_due        timestamptz;
  v_is_free    boolean;
  v_ready_at   timestamptz;
  v_started_at timestamptz;
  v_failures   smallint;
  v_deaths     smallint;
  v_dependents bigint[];
  v_is_met     boolean;
  v_next       bigint;
  v_epoch      int;
  v_lane       int;
  v_priority   int;
  v_order      bigint;
  v_tasks      json;
begin
  if current_setting('transaction_isolation') <> 'read committed' then perform millrace.insist_read_committed(); end if;
  -- Whatever became ready before comes first.
  if cardinality(p_lanes) = 1 then
    select not exists (
        select 1
        from millrace.live r
        where r.state = 'ready' and r.gate is null and r.lane = p_lanes[1]
          and (r.priority, r.ready_order) > (p_from_priority[1], p_from_order[1])
      ) and not exists (select 1 from millrace.effect) and (select e.dead_at is null from millrace.dispatcher e where e.id = p_holder),
      (select l.not_before from millrace.live l where l.state = 'delayed' order by l.not_before limit 1)
    into v_is_free, v_due;
  else
    select not exists (
        select 1
        from unnest(p_lanes, p_from_priority, p_from_order) m(lane, from_priority, from_order)
          cross join lateral (
            select 1
            from millrace.live r
            where r.state = 'ready' and r.gate is null and r.lane = m.lane
              and (r.priority, r.ready_order) > (m.from_priority, m.from_order)
            limit 1
          ) r
      ) and not exists (select 1 from millrace.effect) and (select e.dead_at is null from millrace.dispatcher e where e.id = p_holder),
      (select l.not_before from millrace.live l where l.state = 'delayed' order by l.not_before limit 1)
    into v_is_free, v_due;
  end if;
  if v_is_free is not true or v_due <= clock_timestamp() then return null; end if;

  delete from millrace.live l
  where l.ctid = any(array(
    select r.ctid
    from millrace.live r
    where r.id = p_id and r.holder = p_holder and r.epoch = p_epoch and r.state = 'running' and r.cancel_cause is null
      and r.gates_held = 0 and not r.is_rerun
    for update skip locked
  ))
  returning l.ready_at, l.started_at, l.failures, l.deaths into v_ready_at, v_started_at, v_failures, v_deaths;
  if not found then return null; end if;
  insert into millrace.done (id, ready_at, started_at, holder, epoch, state, failures, deaths, output)
  values (p_id, v_ready_at, v_started_at, p_holder, p_epoch, 'succeeded', v_failures, v_deaths, p_output);

  -- A statement after the one that locked the task, as `settle` explains.
  select array_agg(e.dependent), bool_and(e.condition in ('succeeded', 'finished')) into v_dependents, v_is_met
  from millrace.edge e
  where e.prerequisite = p_id;
  if v_dependents is not null then
    if cardinality(v_dependents) = 1 and v_is_met then
      update millrace.live l
      set unmet = 0, state = 'running', holder = p_holder, epoch = l.epoch + 1, ready_order = nextval('millrace.ready_order'),
          ready_at = clock_timestamp(), started_at = clock_timestamp()
      where l.ctid = any(array(
        select r.ctid
        from millrace.live r
        where r.id = v_dependents[1] and r.unmet = 1 and r.state = 'waiting' and r.lane = any(p_lanes) and r.not_before is null
          and r.gates is null and not r.supersedes
        for no key update skip locked
      ))
      returning l.id, l.epoch, l.lane, l.priority, l.ready_order, l.failures, l.deaths
      into v_next, v_epoch, v_lane, v_priority, v_order, v_failures, v_deaths;
    end if;
    if v_next is null then
      return millrace.lease(
        p_holder, array[p_id], millrace.settle(array[p_id], 'succeeded'), null, p_lanes, p_from_priority, p_from_order, p_limit
      );
    end if;
    select json_build_array(json_build_array(
      t.id::text, v_epoch, v_lane, v_priority, v_order::text, v_failures, v_deaths, t.scope, t.key, t.creator::text, t.payload
    ))
    into v_tasks
    from millrace.task t
    where t.id = v_next;
  end if;
  insert into millrace.outbox (succeeded, readied, claimed, holder) values (array[p_id], v_dependents, v_dependents, p_holder);
  return json_build_object(
    'accepted', null, 'is_alive', true, 'has_effects', false, 'due_seconds', extract(epoch from v_due - clock_timestamp()),
    'tasks', v_tasks
  );
end $$;
