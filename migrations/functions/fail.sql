-- Ends running tasks of the dispatcher p_holder as failed, canceled, or succeeded with an error on record (advisory).
-- Answers the ids it took.
create function millrace.fail(p_holder int, p_ids bigint[], p_epochs int[], p_state millrace.state, p_errors jsonb[])
returns bigint[]
language plpgsql as $$
declare
  v_ids       bigint[];
  v_claimable int := 0;
begin
  v_ids := array(
    select l.id
    from unnest(p_ids, p_epochs) p(id, epoch) join millrace.live l on l.id = p.id
    where l.holder = p_holder and l.epoch = p.epoch and l.state = 'running'
      and (p_state = 'canceled' or l.cancel_cause is null)
    order by l.id
    for update of l skip locked
  );
  for i in 1 .. cardinality(v_ids) loop
    v_claimable := v_claimable + millrace.conclude(array[v_ids[i]], p_state, null, null, null, p_errors[array_position(p_ids, v_ids[i])]);
  end loop;
  if exists (select 1 from millrace.effect) then v_claimable := v_claimable + millrace.pump(); end if;
  if v_claimable > 0 then perform millrace.wake(); end if;
  return v_ids;
end $$;
