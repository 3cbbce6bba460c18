-- Keeps every given task from ending and from being asked for again until this transaction ends, so that what a
-- following statement reads of their states stays true. Finishing locks the live row FOR UPDATE, asking again locks
-- the done row FOR UPDATE; both conflict with these locks.
--
-- A task is in `live` or in `done`, and may move between the two while this function looks: whatever was found in
-- neither is looked for again.
create function millrace.lock_prerequisites(p_ids bigint[]) returns void
language plpgsql as $$
declare
  v_left    bigint[] := array(select distinct x from unnest(p_ids) x order by 1);
  v_found   bigint[];
  v_missing bigint;
begin
  for v_round in 1 .. 100 loop
    v_found := array(select l.id from millrace.live l where l.id = any(v_left) order by l.id for key share);
    if cardinality(v_found) = cardinality(v_left) then return; end if;
    v_left := array(select x from unnest(v_left) x except select x from unnest(v_found) x order by 1);
    v_found := array(select d.id from millrace.done d where d.id = any(v_left) order by d.id for key share);
    if cardinality(v_found) = cardinality(v_left) then return; end if;
    v_left := array(select x from unnest(v_left) x except select x from unnest(v_found) x order by 1);
    select x into v_missing
    from unnest(v_left) x
    where (select t.id from millrace.task t where t.id = x) is null
    order by 1 limit 1;
    if v_missing is not null then
      raise exception 'task % does not exist', v_missing
        using errcode = 'MR002', detail = jsonb_build_object('task', v_missing::text)::text;
    end if;
  end loop;
  raise exception 'tasks % keep moving', v_left using errcode = '40001';
end $$;
