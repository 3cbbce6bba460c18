-- Passes on that the given tasks have ended in p_state: dependents whose condition is met count one requirement less,
-- dependents whose condition can no longer be met are to be skipped. Answers as `unblock` does.
--
-- Must be a statement after the one that locked the tasks: whoever adds an edge holds a lock on the prerequisite that
-- conflicts with it, so the snapshot taken here sees every edge there will be.
create function millrace.settle(p_ids bigint[], p_state millrace.state) returns bigint[]
language plpgsql as $$
declare
  v_prerequisites bigint[];
  v_dependents    bigint[];
  v_conditions    millrace.condition[];
  v_met           bigint[];
  v_counts        int[];
  v_readied       bigint[];
begin
  perform millrace.insist_read_committed();
  select array_agg(e.prerequisite), array_agg(e.dependent), array_agg(e.condition)
  into v_prerequisites, v_dependents, v_conditions
  from millrace.edge e
  where e.prerequisite = any(p_ids);
  if v_dependents is null then return null; end if;

  if cardinality(v_dependents) = 1 and millrace.is_met(v_conditions[1], p_state) then
    v_readied := millrace.unblock(v_dependents, array[1]);
  else
    select array_agg(s.dependent), array_agg(s.n) into v_met, v_counts
    from (
      select x.dependent, count(*)::int as n
      from unnest(v_dependents, v_conditions) x(dependent, condition)
      where millrace.is_met(x.condition, p_state)
      group by x.dependent
      order by x.dependent -- of those that become ready at once, the one that was added first comes first
    ) s;
    if v_met is not null then
      v_readied := millrace.unblock(v_met, v_counts);
    end if;
  end if;

  if p_state <> 'succeeded' or 'failed' = any(v_conditions) then
    insert into millrace.effect (kind, ref, culprit)
    select 'skip', x.dependent, x.prerequisite
    from unnest(v_prerequisites, v_dependents, v_conditions) x(prerequisite, dependent, condition)
    where not millrace.is_met(x.condition, p_state)
      and (select l.id from millrace.live l where l.id = x.dependent) is not null;
  end if;

  if 'ended' = any(v_conditions) then
    delete from millrace.edge e where e.prerequisite = any(p_ids) and e.condition = 'ended';
  end if;
  return v_readied;
end $$;
