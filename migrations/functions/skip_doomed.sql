-- Skips tasks that a requirement makes impossible, and all that depends on their success, to any depth. p_ids[i] is
-- doomed by the end of p_culprits[i]. Never waits: what is locked is left to a later transaction.
--
-- Whether the culprit still stands in the way is looked up again under its lock: it may have been asked for again since.
-- Running tasks go on, and held ones stay with the person who holds them; both are looked at when they move: under their
-- lock, which is why it is taken here for them too.
create function millrace.skip_doomed(p_ids bigint[], p_culprits bigint[]) returns int
language plpgsql as $$
declare
  v_standing   bigint[];
  v_ids        bigint[];
  v_culprits   bigint[];
  v_reached    bigint[];
  v_reached_by bigint[];
  v_locked     bigint[];
  v_left       bigint[];
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

  with recursive doomed (id, culprit) as (
    select x.id, x.culprit from unnest(v_ids, v_culprits) x(id, culprit)
    union
    select next.dependent, doomed.id
    from doomed cross join lateral (
      -- `offset 0` keeps the planner from joining the other way round, over the whole table.
      select e.dependent
      from millrace.edge e
      where e.prerequisite = doomed.id and e.condition in ('succeeded', 'failed')
        and (select l.state from millrace.live l where l.id = e.dependent) in ('waiting', 'delayed', 'ready')
      offset 0
    ) next
  )
  select array_agg(doomed.id), array_agg(doomed.culprit) into v_reached, v_reached_by from doomed;

  -- In whatever state: one that is being released or put back just now is locked by who does it, and may be doomed after.
  v_locked := array(
    select l.id from millrace.live l where l.id = any(v_reached) order by l.id for update skip locked
  );
  v_left := array(select x from unnest(v_reached) x except select x from unnest(v_locked) x);
  if cardinality(v_left) > 0 then
    insert into millrace.effect (kind, ref, culprit, stalled)
    select 'skip', x.id, x.culprit, pg_current_xact_id()
    from unnest(v_ids, v_culprits) x(id, culprit)
    where x.id = any(v_left) and (select l.id from millrace.live l where l.id = x.id) is not null;
  end if;
  v_locked := array(
    select l.id from millrace.live l where l.id = any(v_locked) and l.state in ('waiting', 'delayed', 'ready')
  );
  v_left := array(select x from unnest(v_reached) x except select x from unnest(v_locked) x);
  if cardinality(v_left) > 0 then
    -- Walk again around what stays: below it nothing may be skipped, or reviving would not find it. Should it end, its own
    -- end reaches the rest.
    with recursive doomed (id, culprit) as (
      select x.id, x.culprit from unnest(v_ids, v_culprits) x(id, culprit) where not (x.id = any(v_left))
      union
      select next.dependent, doomed.id
      from doomed cross join lateral (
        select e.dependent
        from millrace.edge e
        where e.prerequisite = doomed.id and e.condition in ('succeeded', 'failed') and not (e.dependent = any(v_left))
          and (select l.state from millrace.live l where l.id = e.dependent) in ('waiting', 'delayed', 'ready')
        offset 0
      ) next
    )
    select array_agg(doomed.id), array_agg(doomed.culprit) into v_reached, v_reached_by
    from doomed
    where doomed.id in (select x from unnest(v_locked) x);
  end if;
  select array_agg(s.id), array_agg(s.culprit) into v_ids, v_culprits
  from (
    select x.id, min(x.culprit) as culprit from unnest(v_reached, v_reached_by) x(id, culprit) group by x.id
  ) s;
  if v_ids is null then return 0; end if;
  return millrace.conclude(v_ids, 'skipped', 'a requirement can no longer be met', v_culprits, null);
end $$;
