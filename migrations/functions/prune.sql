-- Deletes finished tasks with all that is kept of them. A task stays as long as an unfinished one requires or supersedes
-- it, or a kept one was skipped because of it: those still need to know what became of it.
create function millrace.prune(
  p_seconds float8, p_scope text, p_kind text, p_states text[], p_limit int, p_after bigint, out count int, out last bigint
)
language plpgsql as $$
declare
  v_ids bigint[];
begin
  select array_agg(s.id), max(s.id) into v_ids, last
  from (
    select d.id
    from millrace.done d
      join millrace.task t on t.id = d.id
      left join millrace.lane l on l.id = t.lane
    where d.id > p_after
      and d.finished_at < clock_timestamp() - make_interval(secs => p_seconds)
      and d.state::text = any(p_states)
      and (p_scope is null or t.scope = p_scope)
      and (p_kind is null or l.kind = p_kind)
    order by d.id
    limit p_limit
  ) s;
  count := 0;
  if v_ids is null then return; end if;
  -- Whoever adds a dependent locks the done row; what is locked just now stays. The next statement sees what they added.
  v_ids := array(select d.id from millrace.done d where d.id = any(v_ids) order by d.id for update skip locked);
  v_ids := array(
    select x
    from unnest(v_ids) x
    where not exists (
        select 1 from millrace.edge e join millrace.live l on l.id = e.dependent where e.prerequisite = x
      )
      and not exists (
        select 1 from millrace.supersede s join millrace.live l on l.id = s.task where s.target = x
      )
      and not exists (
        select 1 from millrace.supersede s join millrace.live l on l.id = s.target where s.task = x and s.is_chain
      )
      and not exists (
        select 1 from millrace.edge e join millrace.done d on d.id = e.dependent where e.prerequisite = x and d.culprit = x
      )
      and not exists (select 1 from millrace.effect f where f.ref = x and f.kind <> 'gate')
  );
  delete from millrace.done d where d.id = any(v_ids);
  delete from millrace.attempt a where a.task = any(v_ids);
  delete from millrace.event e where e.task = any(v_ids);
  delete from millrace.output o where o.task = any(v_ids);
  delete from millrace.artifact a where a.task = any(v_ids);
  delete from millrace.artifact_piece p where p.task = any(v_ids);
  delete from millrace.artifact_upload u where u.task = any(v_ids);
  delete from millrace.edge e where e.prerequisite = any(v_ids) or e.dependent = any(v_ids);
  delete from millrace.supersede s where s.task = any(v_ids) or s.target = any(v_ids);
  delete from millrace.task t where t.id = any(v_ids);
  count := cardinality(v_ids);
end $$;
