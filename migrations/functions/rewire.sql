-- Gives a task that has not started other requirements instead of those it has. Waits for locks, in the order of the ids.
-- Answers whether it did: false when the task runs, or is over.
--
-- The requirements of before are locked too: one that ends just now would count its end against an edge that is gone. What
-- such ends have left in `effect` belongs to the past, and the requirements are counted anew.
create function millrace.rewire(
  p_dependent bigint, p_prerequisites bigint[], p_conditions text[], p_cause text, p_actor text
) returns boolean
language plpgsql as $$
declare
  v_before    bigint[];
  v_live      millrace.live;
  v_unmet     int;
  v_claimable int := 0;
begin
  perform millrace.insist_read_committed();
  if p_dependent = any(p_prerequisites) then
    raise exception 'task % would wait for itself', p_dependent
      using errcode = 'MR001', detail = jsonb_build_object('path', array[p_dependent::text, p_dependent::text])::text;
  end if;
  v_before := array(select distinct e.prerequisite from millrace.edge e where e.dependent = p_dependent);
  perform 1 from millrace.live l where l.id = any(p_prerequisites || v_before || p_dependent) order by l.id for no key update;
  perform 1 from millrace.live l where l.id = p_dependent for update;
  -- Nobody gives it edges while its row is locked, so these are all.
  v_before := array(select distinct e.prerequisite from millrace.edge e where e.dependent = p_dependent);
  perform millrace.lock_prerequisites(p_prerequisites || v_before);
  select * into v_live from millrace.live l where l.id = p_dependent;
  if not found or v_live.state = 'running' then
    if not found and (select t.id from millrace.task t where t.id = p_dependent) is null then
      raise exception 'task % does not exist', p_dependent
        using errcode = 'MR002', detail = jsonb_build_object('task', p_dependent::text)::text;
    end if;
    return false;
  end if;
  loop
    delete from millrace.effect f where f.kind in ('unblock', 'skip') and f.ref = p_dependent;
    exit when not exists (select 1 from millrace.effect f where f.kind in ('unblock', 'skip') and f.ref = p_dependent);
  end loop;

  delete from millrace.edge e where e.dependent = p_dependent and e.condition <> 'ended';
  perform millrace.refuse_cycle(p_dependent, p_prerequisites);
  insert into millrace.edge (prerequisite, dependent, condition)
  select distinct x.prerequisite, p_dependent, x.condition::millrace.condition
  from unnest(p_prerequisites, p_conditions) x(prerequisite, condition);
  insert into millrace.event (task, name, cause, actor) values (p_dependent, 'rewired', p_cause, p_actor);
  insert into millrace.outbox (name, tasks, cause, actor) values ('rewired', array[p_dependent], p_cause, p_actor);

  select count(*) into v_unmet
  from millrace.edge e left join millrace.done d on d.id = e.prerequisite
  where e.dependent = p_dependent and not millrace.is_met(e.condition, d.state);
  if v_unmet > 0 then
    perform millrace.block(array[p_dependent], array[v_unmet - v_live.unmet], 'its requirements were replaced');
    perform millrace.doom(array(select l.id from millrace.live l where l.id = p_dependent and l.state = 'waiting'));
  else
    update millrace.live l set unmet = 0 where l.id = p_dependent;
    if v_live.state = 'waiting' then v_claimable := millrace.make_ready(array[p_dependent]); end if;
  end if;
  if exists (select 1 from millrace.effect) then v_claimable := v_claimable + millrace.pump(); end if;
  if v_claimable > 0 then perform millrace.wake(); end if;
  return true;
end $$;
