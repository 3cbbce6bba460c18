-- Exclusive tasks of archives that were added to, or asked for again at, a revision that has later ones: exclusive tasks of
-- later revisions that have not started wait for them, and they for unfinished ones of earlier revisions. What was planned after
-- them knows of them already, and has the edge. Never waits for a lock: what is locked is starting or ending just now.
create function millrace.order_exclusive(p_tasks bigint[]) returns void
language plpgsql as $$
declare
  v_before     bigint[];
  v_after      bigint[];
  v_locked     bigint[];
  v_dependents bigint[];
  v_counts     int[];
begin
  if not exists (select 1 from millrace.archive_task t where t.task = any(p_tasks) and t.is_exclusive) then return; end if;
  select array_agg(x.before), array_agg(x.after) into v_before, v_after
  from (
    select t.task as before, o.task as after
    from millrace.archive_task t
      join millrace.archive_task o on o.archive = t.archive and o.is_open and o.is_exclusive and o.number > t.number
    where t.task = any(p_tasks) and t.is_exclusive
    union
    select o.task, t.task
    from millrace.archive_task t
      join millrace.archive_task o on o.archive = t.archive and o.is_open and o.is_exclusive and o.number < t.number
    where t.task = any(p_tasks) and t.is_exclusive
  ) x
  where not exists (
    select 1 from millrace.edge e where e.prerequisite = x.before and e.dependent = x.after and e.condition = 'finished'
  );
  if v_before is null then return; end if;
  v_locked := array(
    select l.id from millrace.live l
    where l.id = any(v_after) and l.state <> 'running'
    order by l.id for no key update skip locked
  );
  v_before := array(
    select case when x.after = any(v_locked) then x.before end from unnest(v_before, v_after) with ordinality x(before, after, n) order by x.n
  );
  v_locked := array(select l.id from millrace.live l where l.id = any(v_before) order by l.id for key share skip locked);
  with added as (
    insert into millrace.edge (prerequisite, dependent, condition)
    select x.before, x.after, 'finished' from unnest(v_before, v_after) x(before, after) where x.before = any(v_locked)
    on conflict do nothing
    returning dependent
  )
  select array_agg(s.dependent), array_agg(s.n) into v_dependents, v_counts
  from (select a.dependent, count(*)::int as n from added a group by a.dependent) s;
  if v_dependents is not null then
    perform millrace.block(v_dependents, v_counts, 'an exclusive task of an earlier revision is to run first');
  end if;
end $$;

-- The same for a run that was just added.
create function millrace.order_run(p_tasks bigint[]) returns void
language plpgsql as $$
begin
  perform millrace.order_exclusive(p_tasks);
  if exists (select 1 from millrace.effect) and millrace.pump() > 0 then perform millrace.wake(); end if;
end $$;
