-- Gives tasks that have not started another place among those that are ready. Answers those it took. A ready task keeps
-- when it became so: among its new equals it stands where it would have stood all along.
create function millrace.prioritize(p_ids bigint[], p_priority int, p_cause text, p_actor text) returns bigint[]
language plpgsql as $$
declare
  v_ids bigint[];
begin
  v_ids := array(
    select l.id
    from millrace.live l
    where l.id = any(p_ids) and l.state in ('waiting', 'delayed', 'ready', 'held')
    order by l.id
    for update
  );
  if cardinality(v_ids) = 0 then return v_ids; end if;
  with told as (
    insert into millrace.event (task, name, cause, actor, detail)
    select l.id, 'prioritized', p_cause, p_actor, jsonb_build_object('from', l.priority, 'to', p_priority)
    from millrace.live l
    where l.id = any(v_ids)
    returning task, detail
  )
  insert into millrace.outbox (name, tasks, details, cause, actor)
  select 'prioritized', array_agg(t.task), array_agg(t.detail), p_cause, p_actor from told t;
  update millrace.live l set priority = p_priority where l.id = any(v_ids);
  -- A retry begins with it, too.
  update millrace.task t set priority = p_priority where t.id = any(v_ids);
  return v_ids;
end $$;
