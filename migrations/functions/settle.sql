-- Passes on that the given tasks, each of which is given once, have ended in p_state: dependents whose condition is met count one requirement less,
-- dependents whose condition can no longer be met are to be skipped. Answers as `unblock` does.
--
-- Must be a statement after the one that locked the tasks: whoever adds an edge holds a lock on the prerequisite that
-- conflicts with it, so the snapshot taken here sees every edge there will be.
create function millrace.settle(p_ids bigint[], p_state millrace.state) returns bigint[]
language plpgsql as $$
declare
  v_dependents bigint[];
  v_conditions millrace.condition[];
  v_counts     int[];
  v_met        bigint[];
  v_met_counts int[];
  v_readied    bigint[];
  v_first      bigint;
  v_last       bigint;
begin
  perform millrace.insist_read_committed();
  select min(x), max(x) into v_first, v_last from unnest(p_ids) x;
  -- Counted after they were looked up (`offset 0`): planned while there were none, they would be read in the order of dependents, all of them.
  if v_last - v_first + 1 = cardinality(p_ids) then
    -- Without gaps, as is usual for what was added and performed in one go: one look into the index instead of one for each.
    select array_agg(s.dependent), array_agg(s.condition), array_agg(s.n)
    into v_dependents, v_conditions, v_counts
    from (
      select x.dependent, x.condition, count(*)::int as n
      from (select e.dependent, e.condition from millrace.edge e where e.prerequisite between v_first and v_last offset 0) x
      group by x.dependent, x.condition
    ) s;
  else
    select array_agg(s.dependent), array_agg(s.condition), array_agg(s.n)
    into v_dependents, v_conditions, v_counts
    from (
      select x.dependent, x.condition, count(*)::int as n
      from (select e.dependent, e.condition from millrace.edge e where e.prerequisite = any(p_ids) offset 0) x
      group by x.dependent, x.condition
    ) s;
  end if;
  if v_dependents is null then return null; end if;

  if cardinality(v_dependents) = 1 and millrace.is_met(v_conditions[1], p_state) then
    v_readied := millrace.unblock(v_dependents, v_counts);
  else
    select array_agg(s.dependent), array_agg(s.n) into v_met, v_met_counts
    from (
      select x.dependent, sum(x.n)::int as n
      from unnest(v_dependents, v_conditions, v_counts) x(dependent, condition, n)
      where millrace.is_met(x.condition, p_state)
      group by x.dependent
      order by x.dependent -- of those that become ready at once, the one that was added first comes first
    ) s;
    if v_met is not null then
      v_readied := millrace.unblock(v_met, v_met_counts);
    end if;
  end if;

  if p_state <> 'succeeded' or 'failed' = any(v_conditions) then
    insert into millrace.effect (kind, ref, culprit)
    select 'skip', e.dependent, e.prerequisite
    from millrace.edge e
    where e.prerequisite = any(p_ids) and not millrace.is_met(e.condition, p_state)
      and (select l.id from millrace.live l where l.id = e.dependent) is not null;
  end if;

  if 'ended' = any(v_conditions) then
    delete from millrace.edge e where e.prerequisite = any(p_ids) and e.condition = 'ended';
  end if;
  return v_readied;
end $$;
