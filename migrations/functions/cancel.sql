-- Cancels tasks: what does not run ends at once, what runs is asked to stop and ends when it has. Waits for locks, in
-- the order of the ids. Answers the state of each task that was not over yet.
create function millrace.cancel(p_ids bigint[], p_cause text, p_actor text) returns table (id bigint, state millrace.state)
language plpgsql as $$
#variable_conflict use_column
declare
  v_ids       bigint[];
  v_running   bigint[];
  v_idle      bigint[];
  v_claimable int := 0;
begin
  v_ids := array(select l.id from millrace.live l where l.id = any(p_ids) order by l.id for update);
  v_running := array(select l.id from millrace.live l where l.id = any(v_ids) and l.state = 'running');
  v_idle := array(select l.id from millrace.live l where l.id = any(v_ids) and l.state <> 'running');
  if cardinality(v_running) > 0 then perform millrace.request_cancel(v_running, p_cause, null, p_actor); end if;
  if cardinality(v_idle) > 0 then
    v_claimable := millrace.conclude(v_idle, 'canceled', p_cause, null, p_actor);
  end if;
  if exists (select 1 from millrace.effect) then v_claimable := v_claimable + millrace.pump(); end if;
  if v_claimable > 0 then perform millrace.wake(); end if;
  return query
  select x, case when x = any(v_running) then 'running' else 'canceled' end::millrace.state from unnest(v_ids) x;
end $$;

-- Skips tasks by hand: they, and what depends on their success, will not run. Answers those it skipped.
create function millrace.skip(p_ids bigint[], p_cause text, p_actor text) returns bigint[]
language plpgsql as $$
declare
  v_ids       bigint[];
  v_claimable int := 0;
begin
  v_ids := array(
    select l.id from millrace.live l where l.id = any(p_ids) and l.state <> 'running' order by l.id for update
  );
  if cardinality(v_ids) > 0 then
    v_claimable := millrace.conclude(v_ids, 'skipped', p_cause, null, p_actor);
  end if;
  if exists (select 1 from millrace.effect) then v_claimable := v_claimable + millrace.pump(); end if;
  if v_claimable > 0 then perform millrace.wake(); end if;
  return v_ids;
end $$;
