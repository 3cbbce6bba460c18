-- Skips tasks that a requirement makes impossible, and all that depends on their success, to any depth. p_ids[i] is
-- doomed by the end of p_culprits[i]. Never waits: what is locked is left to a later transaction.
--
-- Whether the culprit still stands in the way is looked up again under its lock: it may have been asked for again since.
-- Running tasks go on, and held ones stay with the person who holds them; both are looked at when they move.
create function millrace.skip_doomed(p_ids bigint[], p_culprits bigint[]) returns int
language plpgsql as $$
declare
  v_standing bigint[];
  v_ids      bigint[];
  v_culprits bigint[];
  v_reached  bigint[];
  v_locked   bigint[];
begin
  v_standing := array(
    select d.id from millrace.done d where d.id = any(p_culprits) order by d.id for key share skip locked
  );
  insert into millrace.effect (kind, ref, culprit, stalled)
  select 'skip', x.id, x.culprit, pg_current_xact_id()
  from unnest(p_ids, p_culprits) x(id, culprit)
  where not (x.culprit = any(v_standing)) and (select d.id from millrace.done d where d.id = x.culprit) is not null;

  -- Only what an edge really forbids.
  select array_agg(x.id), array_agg(x.culprit) into v_ids, v_culprits
  from (
    select x.id, min(x.culprit) as culprit
    from unnest(p_ids, p_culprits) x(id, culprit)
    where x.culprit = any(v_standing)
      and exists (
        select 1
        from millrace.edge e join millrace.done d on d.id = e.prerequisite
        where e.prerequisite = x.culprit and e.dependent = x.id and not millrace.is_met(e.condition, d.state)
      )
    group by x.id
  ) x;
  if v_ids is null then return 0; end if;

  with recursive doomed (id) as (
    select x from unnest(v_ids) x
    union
    select e.dependent
    from doomed
      join millrace.edge e on e.prerequisite = doomed.id
      join millrace.live l on l.id = e.dependent
    where e.condition in ('succeeded', 'failed') and l.state in ('waiting', 'delayed', 'ready')
  )
  select array_agg(doomed.id) into v_reached from doomed;

  v_locked := array(
    select l.id
    from millrace.live l
    where l.id = any(v_reached) and l.state in ('waiting', 'delayed', 'ready')
    order by l.id
    for update skip locked
  );
  insert into millrace.effect (kind, ref, culprit, stalled)
  select 'skip', x.id, x.culprit, pg_current_xact_id()
  from unnest(v_ids, v_culprits) x(id, culprit)
  where not (x.id = any(v_locked))
    and (select l.id from millrace.live l where l.id = x.id and l.state in ('waiting', 'delayed', 'ready')) is not null;

  -- Walk again through the locked ones alone: below a task that could not be locked nothing may be skipped yet, or
  -- reviving would not find it. That task's own end will reach the rest.
  with recursive mine (id) as materialized (
    select x from unnest(v_locked) x
  ),
  doomed (id, culprit) as (
    select x.id, x.culprit from unnest(v_ids, v_culprits) x(id, culprit) join mine on mine.id = x.id
    union
    select e.dependent, e.prerequisite
    from doomed
      join millrace.edge e on e.prerequisite = doomed.id
      join mine on mine.id = e.dependent
    where e.condition in ('succeeded', 'failed')
  )
  select array_agg(s.id), array_agg(s.culprit) into v_ids, v_culprits
  from (select doomed.id, min(doomed.culprit) as culprit from doomed group by doomed.id) s;
  if v_ids is null then return 0; end if;
  return millrace.conclude(v_ids, 'skipped', 'a requirement can no longer be met', v_culprits, null);
end $$;
