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
    from (select p.id, p.epoch from unnest(p_ids, p_epochs) p(id, epoch) order by p.id) p
      cross join lateral (
        select r.id
        from millrace.live r
        where r.id = p.id and r.holder = p_holder and r.epoch = p.epoch and r.state = 'running'
          and (p_state = 'canceled' or r.cancel_cause is null)
        for update skip locked
      ) l
  );
  for i in 1 .. cardinality(v_ids) loop
    v_claimable := v_claimable + millrace.conclude(array[v_ids[i]], p_state, null, null, null, p_errors[array_position(p_ids, v_ids[i])]);
  end loop;
  if exists (select 1 from millrace.effect) then v_claimable := v_claimable + millrace.pump(); end if;
  if v_claimable > 0 then perform millrace.wake(); end if;
  return v_ids;
end $$;
