-- Asks for ended tasks again. p_name is the verb: retried (failed, canceled, skipped), rerun (succeeded). Waits for
-- locks. Answers those it took.
create function millrace.retry(p_ids bigint[], p_name text, p_cause text, p_actor text) returns bigint[]
language plpgsql as $$
declare
  v_ids       bigint[];
  v_claimable int;
begin
  v_ids := array(
    select d.id
    from millrace.done d
    where d.id = any(p_ids) and (d.state = 'succeeded') = (p_name = 'rerun')
    order by d.id
    for update
  );
  if cardinality(v_ids) = 0 then return v_ids; end if;
  v_claimable := millrace.unfinish(v_ids, p_name, p_cause, null, p_actor);
  if exists (select 1 from millrace.effect) then v_claimable := v_claimable + millrace.pump(); end if;
  if v_claimable > 0 then perform millrace.wake(); end if;
  return v_ids;
end $$;

-- Moves ended tasks, whose done rows the caller has locked, back to `live`, together with everything that was skipped
-- because of them; their requirements are counted anew. Dependents that have not started wait for them again.
-- Answers how many tasks can be claimed.
create function millrace.unfinish(p_ids bigint[], p_name text, p_cause text, p_culprit bigint, p_actor text) returns int
language plpgsql as $$
declare
  v_found bigint[];
  v_all   bigint[] := '{}';
  v_free  bigint[];
begin
  perform millrace.insist_read_committed();
  -- Whoever skips a task because of one of these holds a lock on it: after having waited for that, look again.
  loop
    with recursive revived (id) as (
      select x from unnest(p_ids) x
      union
      select next.dependent
      from revived cross join lateral (
        -- `offset 0` keeps the planner from joining the other way round, over the whole table.
        select e.dependent
        from millrace.edge e
        where e.prerequisite = revived.id
          and (select case when d.state = 'skipped' then d.culprit end from millrace.done d where d.id = e.dependent) = revived.id
        offset 0
      ) next
    )
    select array_agg(revived.id) into v_found from revived;
    exit when not exists (select x from unnest(v_found) x except select x from unnest(v_all) x);
    v_all := v_found;
    perform 1 from millrace.done d where d.id = any(v_all) order by d.id for update;
  end loop;
  v_all := array(select d.id from millrace.done d where d.id = any(v_found) order by d.id);
  perform millrace.lock_prerequisites(array(select distinct e.prerequisite from millrace.edge e where e.dependent = any(v_all)));
  -- Whatever was still to be taken off their counts belongs to the past: they are counted anew below. What another
  -- transaction takes and puts back while the deletion waits for it, only the next look sees.
  loop
    delete from millrace.effect f where f.kind in ('unblock', 'skip', 'rerun') and f.ref = any(v_all);
    exit when not exists (
      select 1 from millrace.effect f where f.kind in ('unblock', 'skip', 'rerun') and f.ref = any(v_all)
    );
  end loop;
  perform 1
  from millrace.live l
  where l.id = any(array(select distinct e.dependent from millrace.edge e where e.prerequisite = any(v_all)))
  order by l.id
  for no key update;
  perform millrace.reblock(v_all);

  with gone as (
    delete from millrace.done d where d.id = any(v_all) returning d.*
  ),
  performed as (
    insert into millrace.attempt (task, epoch, outcome, ready_at, started_at, ended_at, holder, next, cause, actor, error, output)
    select g.id, g.epoch, g.state::text, g.ready_at, g.started_at, g.finished_at, g.holder, g.state, g.cause, g.actor, g.error, g.output
    from gone g where g.prior is null
  ),
  readied as (
    insert into millrace.event (task, at, name, prior, next, cause)
    select g.id, g.ready_at, 'readied', 'waiting', 'ready', 'requirements met'
    from gone g where g.prior is not null and g.ready_at is not null
  ),
  ended as (
    insert into millrace.event (task, at, name, prior, next, cause, culprit, actor, detail)
    select g.id, g.finished_at, g.state::text, g.prior, g.state, g.cause, g.culprit, g.actor,
      case when g.started_at is not null then jsonb_build_object('started_at', g.started_at) end
    from gone g where g.prior is not null
  ),
  asked as (
    insert into millrace.event (task, name, prior, next, cause, culprit, actor)
    select g.id, case when g.id = any(p_ids) then p_name else 'revived' end, g.state, 'waiting',
      case when g.id = any(p_ids) then p_cause else 'a requirement was asked for again' end,
      case when g.id = any(p_ids) then p_culprit else g.culprit end,
      p_actor
    from gone g
    returning task, name, prior, cause, culprit
  ),
  told as (
    insert into millrace.outbox (name, next, tasks, priors, culprits, cause, actor)
    select a.name, 'waiting', array_agg(a.task), array_agg(a.prior), array_agg(a.culprit), a.cause, p_actor
    from asked a
    group by a.name, a.cause
  )
  insert into millrace.live (id, lane, priority, epoch, state, max_attempts, supersedes, gates, is_rerun)
  select t.id, t.lane, t.priority, g.epoch, 'waiting', t.max_attempts, t.supersedes, t.gates, g.is_rerun or g.id = any(p_ids) and p_name = 'rerun'
  from gone g join millrace.task t on t.id = g.id;

  update millrace.live l
  set unmet = (
    select count(*)
    from millrace.edge e left join millrace.done d on d.id = e.prerequisite
    where e.dependent = l.id and not millrace.is_met(e.condition, d.state)
  )
  where l.id = any(v_all);
  v_free := array(select l.id from millrace.live l where l.id = any(v_all) and l.unmet = 0);
  perform millrace.doom(array(select l.id from millrace.live l where l.id = any(v_all) and l.unmet > 0));
  return millrace.make_ready(v_free);
end $$;

-- Tasks that are about to be asked for again meet no condition any more: unfinished dependents count one requirement
-- more for each condition that had been met, and what was ready goes back to waiting.
create function millrace.reblock(p_ids bigint[]) returns void
language plpgsql as $$
declare
  v_dependents bigint[];
  v_counts     int[];
begin
  select array_agg(s.dependent), array_agg(s.n) into v_dependents, v_counts
  from (
    select e.dependent, count(*)::int as n
    from millrace.edge e
      join millrace.done d on d.id = e.prerequisite
      join millrace.live l on l.id = e.dependent
    where e.prerequisite = any(p_ids) and millrace.is_met(e.condition, d.state)
    group by e.dependent
  ) s;
  if v_dependents is null then return; end if;
  perform millrace.block(v_dependents, v_counts, 'a requirement was asked for again');
end $$;

-- Adds p_counts[i] unmet requirements to p_dependents[i], whose live rows the caller has locked; what was ready or
-- delayed goes back to waiting and gives back its gates.
create function millrace.block(p_dependents bigint[], p_counts int[], p_cause text) returns void
language plpgsql as $$
begin
  perform millrace.keep_readied(p_dependents);
  with blocked as (
    insert into millrace.event (task, name, prior, next, cause)
    select l.id, 'blocked', l.state, 'waiting', p_cause
    from millrace.live l
    where l.id = any(p_dependents) and l.state in ('ready', 'delayed')
    returning task, prior
  )
  insert into millrace.outbox (name, next, tasks, priors, cause)
  select 'blocked', 'waiting', array_agg(b.task), array_agg(b.prior), p_cause from blocked b having count(*) > 0;
  insert into millrace.effect (kind, ref, n)
  select 'gate', held.gate, count(*)
  from millrace.live l cross join lateral unnest(l.gates[1 : l.gates_held]) held(gate)
  where l.id = any(p_dependents) and l.state = 'ready'
  group by held.gate;
  update millrace.live l
  set unmet       = l.unmet + x.n,
      state       = case when l.state in ('ready', 'delayed') then 'waiting' else l.state end,
      gate        = null,
      ready_at    = case when l.state = 'ready' then null else l.ready_at end,
      gates_held  = case when l.state = 'ready' then 0 else l.gates_held end
  from unnest(p_dependents, p_counts) x(id, n)
  where l.id = x.id;
end $$;

-- Puts the succeeded dependents of tasks that have succeeded again on the list to be run again. Those that only wait for
-- an end (finished, failed) do not build on the result: for them it was a matter of order, and that was kept.
create function millrace.spread_rerun(p_ids bigint[]) returns void
language sql as $$
  insert into millrace.effect (kind, ref, culprit)
  select 'rerun', e.dependent, e.prerequisite
  from millrace.edge e join millrace.done d on d.id = e.dependent
  where e.prerequisite = any(p_ids) and e.condition = 'succeeded' and d.state = 'succeeded'
$$;

-- Runs succeeded tasks again because a requirement of theirs has. This one part of the pump waits for locks: it is rare,
-- and asking again must take all of its locks or none.
create function millrace.rerun_dependents(p_ids bigint[], p_culprits bigint[]) returns int
language plpgsql as $$
declare
  v_id        bigint;
  v_claimable int := 0;
begin
  for v_id in
    select d.id from millrace.done d where d.id = any(p_ids) and d.state = 'succeeded' order by d.id for update
  loop
    v_claimable := v_claimable + millrace.unfinish(
      array[v_id], 'rerun', 'a requirement ran again', p_culprits[array_position(p_ids, v_id)], null
    );
  end loop;
  return v_claimable;
end $$;

-- Marks a task as succeeded by hand, whatever had become of it, unless it runs. Answers whether it did.
create function millrace.succeed(p_id bigint, p_cause text, p_actor text) returns boolean
language plpgsql as $$
declare
  v_claimable int := 0;
begin
  perform 1 from millrace.done d where d.id = p_id and d.state <> 'succeeded' for update;
  if found then
    v_claimable := millrace.unfinish(array[p_id], 'reopened', p_cause, null, p_actor);
  end if;
  perform 1 from millrace.live l where l.id = p_id and l.state <> 'running' for update;
  if not found then return false; end if;
  delete from millrace.effect f where f.ref = p_id and f.kind in ('unblock', 'skip', 'supersede', 'complete');
  v_claimable := v_claimable + millrace.conclude(array[p_id], 'succeeded', p_cause, null, p_actor);
  if exists (select 1 from millrace.effect) then v_claimable := v_claimable + millrace.pump(); end if;
  if v_claimable > 0 then perform millrace.wake(); end if;
  return true;
end $$;
