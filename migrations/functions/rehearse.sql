-- Goes through the steps of a dispatcher once, on tasks that have never been there afterwards: what a connection does for
-- the first time it plans first, which takes as long as a dozen steps. Nobody takes tasks of lane 0.
--
-- Where something is pending or due nothing is rehearsed: it would be done and undone.
create function millrace.rehearse(p_holder int, p_lanes int) returns json
language plpgsql as $$
declare
  v_lanes      int[] := array(select 1 - x from generate_series(1, p_lanes) x);
  v_priorities int[] := array_fill(0, array[p_lanes]);
  v_orders     bigint[] := array_fill(0::bigint, array[p_lanes]);
  v_ids        bigint[];
begin
  if exists (select 1 from millrace.effect)
    or exists (select 1 from millrace.live l where l.state = 'delayed' and l.not_before <= clock_timestamp())
  then
    return null;
  end if;
  -- Two chains of two: a hop along the first, and what ends of both together. Then a look in ranges.
  v_ids := millrace.add_simple(
    array[0, 0, 0, 0], null, E'1\n1\n1\n1', null, null, array[3, 4], array[-1, -2], null, null, null
  );
  perform millrace.step(p_holder, '{}', '{}', null, '{}', v_lanes, v_priorities, v_orders, 2);
  perform millrace.step(p_holder, v_ids[1:1], '{1}', null, '{}', v_lanes, v_priorities, v_orders, 2);
  perform millrace.step(p_holder, v_ids[2:3], '{1, 1}', null, '{}', v_lanes, v_priorities, v_orders, 2);
  perform millrace.step(p_holder, '{}', '{}', null, '{}', v_lanes, v_priorities, v_orders, 2, null, v_priorities);
  raise exception using errcode = 'MR000', message = 'a rehearsal leaves nothing behind';
exception when sqlstate 'MR000' then
  return null;
end $$;
