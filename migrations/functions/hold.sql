-- Stops tasks that have not started from starting, until they are released. Answers those it held.
create function millrace.hold(p_ids bigint[], p_cause text, p_actor text) returns bigint[]
language plpgsql as $$
declare
  v_ids bigint[];
begin
  v_ids := array(
    select l.id
    from millrace.live l
    where l.id = any(p_ids) and l.state in ('waiting', 'delayed', 'ready')
    order by l.id
    for update
  );
  if cardinality(v_ids) = 0 then return v_ids; end if;
  perform millrace.keep_readied(v_ids);
  with held as (
    insert into millrace.event (task, name, prior, next, cause, actor)
    select l.id, 'held', l.state, 'held', p_cause, p_actor from millrace.live l where l.id = any(v_ids)
    returning task, prior
  )
  insert into millrace.outbox (name, next, tasks, priors, cause, actor)
  select 'held', 'held', array_agg(h.task), array_agg(h.prior), p_cause, p_actor from held h;
  insert into millrace.effect (kind, ref, n)
  select 'gate', held.gate, count(*)
  from millrace.live l cross join lateral unnest(l.gates[1 : l.gates_held]) held(gate)
  where l.id = any(v_ids)
  group by held.gate;
  update millrace.live l
  set state = 'held', gate = null, gates_held = 0, ready_at = null, held_by = coalesce(p_actor, '')
  where l.id = any(v_ids);
  if exists (select 1 from millrace.effect) and millrace.pump() > 0 then perform millrace.wake(); end if;
  return v_ids;
end $$;

-- Writes down when tasks became ready that are about to be ready no more without having run: the time on the row goes.
create function millrace.keep_readied(p_ids bigint[]) returns void
language sql as $$
  insert into millrace.event (task, at, name, prior, next, cause)
  select l.id, l.ready_at, 'readied', 'waiting', 'ready', 'requirements met'
  from millrace.live l
  where l.id = any(p_ids) and l.state = 'ready' and l.ready_at is not null
$$;

-- Lets held tasks go on: to wait, or straight on where nothing is left to wait for. Answers those it released.
create function millrace.release(p_ids bigint[], p_cause text, p_actor text) returns bigint[]
language plpgsql as $$
declare
  v_ids       bigint[];
  v_claimable int := 0;
begin
  v_ids := array(select l.id from millrace.live l where l.id = any(p_ids) and l.state = 'held' order by l.id for update);
  if cardinality(v_ids) = 0 then return v_ids; end if;
  update millrace.live l set state = 'waiting', held_by = null where l.id = any(v_ids);
  insert into millrace.event (task, name, prior, next, cause, actor)
  select x, 'released', 'held', 'waiting', p_cause, p_actor from unnest(v_ids) x;
  insert into millrace.outbox (name, next, tasks, priors, cause, actor)
  values ('released', 'waiting', v_ids, array_fill('held'::millrace.state, array[cardinality(v_ids)]), p_cause, p_actor);
  v_claimable := millrace.make_ready(array(select l.id from millrace.live l where l.id = any(v_ids) and l.unmet = 0));
  -- Held tasks are not skipped when a requirement fails; that is made up for here.
  perform millrace.doom(array(select l.id from millrace.live l where l.id = any(v_ids) and l.unmet > 0));
  if exists (select 1 from millrace.effect) then v_claimable := v_claimable + millrace.pump(); end if;
  if v_claimable > 0 then perform millrace.wake(); end if;
  return v_ids;
end $$;
