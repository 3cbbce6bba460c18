-- Asks for ended tasks again. p_name is the verb: retried (failed, canceled, skipped), rerun (succeeded). Waits for
-- locks. Answers those it took.
create function millrace.retry(p_ids bigint[], p_name text, p_cause text, p_actor text) returns bigint[]
language plpgsql as $$
declare
  v_ids       bigint[];
  v_all       bigint[];
  v_claimable int;
begin
  select l.ids, l.revived into v_ids, v_all from millrace.lock_ended(p_ids, p_name = 'rerun') l;
  if cardinality(v_ids) = 0 then return v_ids; end if;
  v_claimable := millrace.unfinish(v_ids, v_all, p_name, p_cause, null, p_actor);
  if exists (select 1 from millrace.effect) then v_claimable := v_claimable + millrace.pump(); end if;
  if v_claimable > 0 then perform millrace.wake(); end if;
  return v_ids;
end $$;

-- Locks what asking for ended tasks again touches, as `try_lock_ended` does, and waits for what others have locked.
--
-- Two that ask again can want the same rows in opposite orders: one for a task and what was skipped because of it, the other
-- for that and what it requires. So while it waits for one row it holds no other: whatever it got is given back, by undoing
-- a subtransaction, and it begins anew. One that wants very many rows might never find them all free at once: after
-- some rounds it keeps what it has. Should two then wait for each other, the server ends one of them.
create function millrace.lock_ended(p_ids bigint[], p_is_succeeded boolean, out ids bigint[], out revived bigint[])
language plpgsql as $$
declare
  v_busy    bigint[];
  v_busy_as text;
begin
  perform millrace.insist_read_committed();
  for v_round in 1 .. 100 loop
    begin
      select l.ids, l.revived, l.busy, l.busy_as into ids, revived, v_busy, v_busy_as
      from millrace.try_lock_ended(p_ids, p_is_succeeded) l;
      if v_busy_as is null then return; end if;
      if v_round <= 10 then raise exception 'give back' using errcode = 'MR006'; end if;
    exception when sqlstate 'MR006' then null;
    end;
    begin
      if v_round <= 10 then v_busy := v_busy[1 : 1]; end if;
      if v_busy_as = 'ended' then
        perform 1 from millrace.done d where d.id = any(v_busy) order by d.id for update;
      elsif v_busy_as = 'prerequisite' then
        perform 1 from millrace.live l where l.id = any(v_busy) order by l.id for key share;
        perform 1 from millrace.done d where d.id = any(v_busy) order by d.id for key share;
      elsif v_busy_as = 'effect' then
        perform 1 from millrace.effect f where f.id = any(v_busy) order by f.id for update;
      else
        perform 1 from millrace.live l where l.id = any(v_busy) order by l.id for no key update;
      end if;
      if v_round <= 10 then raise exception 'give back' using errcode = 'MR006'; end if;
    exception when sqlstate 'MR006' then null;
    end;
  end loop;
  raise exception 'tasks % keep being locked', p_ids using errcode = '40001';
end $$;

-- Locks, without waiting, ended tasks that are to be asked for again, those that have succeeded or the others; everything
-- that was skipped because of them; what these require; what is left in `effect` for them; and unfinished tasks that require
-- them. Answers the first, and all of them; or what others have locked, and as what it was wanted.
create function millrace.try_lock_ended(
  p_ids bigint[], p_is_succeeded boolean, out ids bigint[], out revived bigint[], out busy bigint[], out busy_as text
)
language plpgsql as $$
declare
  v_found  bigint[];
  v_locked bigint[] := '{}';
  v_wanted bigint[];
begin
  -- Whoever skips a task because of one of these holds a lock on it: once that is ours, look again.
  loop
    ids := array(
      select d.id from millrace.done d where d.id = any(p_ids) and (d.state = 'succeeded') = p_is_succeeded order by d.id
    );
    with recursive found (id) as (
      select x from unnest(ids) x
      union
      select next.dependent
      from found cross join lateral (
        -- `offset 0` keeps the planner from joining the other way round, over the whole table.
        select e.dependent
        from millrace.edge e
        where e.prerequisite = found.id
          and (select case when d.state = 'skipped' then d.culprit end from millrace.done d where d.id = e.dependent) = found.id
        offset 0
      ) next
    )
    select array_agg(found.id order by found.id) into v_found from found;
    revived := coalesce(v_found, '{}');
    exit when not exists (select x from unnest(revived) x except select x from unnest(v_locked) x);
    v_locked := array(select d.id from millrace.done d where d.id = any(v_found) order by d.id for update skip locked);
    busy := array(
      select d.id from millrace.done d where d.id = any(v_found) except select x from unnest(v_locked) x order by 1
    );
    busy_as := 'ended';
    if cardinality(busy) > 0 then return; end if;
  end loop;

  -- A task that moves between the two while this looks is found in neither.
  v_wanted := array(select distinct e.prerequisite from millrace.edge e where e.dependent = any(revived));
  v_locked := array(select l.id from millrace.live l where l.id = any(v_wanted) order by l.id for key share skip locked);
  v_locked := v_locked || array(select d.id from millrace.done d where d.id = any(v_wanted) order by d.id for key share skip locked);
  busy := array(select x from unnest(v_wanted) x except select x from unnest(v_locked) x order by 1);
  busy_as := 'prerequisite';
  if cardinality(busy) > 0 then return; end if;

  -- What another transaction has taken it may put back.
  v_locked := array(
    select f.id
    from millrace.effect f
    where f.kind in ('unblock', 'skip', 'rerun') and f.ref = any(revived)
    order by f.id
    for update skip locked
  );
  busy := array(
    select f.id from millrace.effect f where f.kind in ('unblock', 'skip', 'rerun') and f.ref = any(revived)
    except select x from unnest(v_locked) x
    order by 1
  );
  busy_as := 'effect';
  if cardinality(busy) > 0 then return; end if;

  v_wanted := array(select distinct e.dependent from millrace.edge e where e.prerequisite = any(revived));
  v_locked := array(
    select l.id from millrace.live l where l.id = any(v_wanted) order by l.id for no key update skip locked
  );
  busy := array(
    select l.id from millrace.live l where l.id = any(v_wanted) except select x from unnest(v_locked) x order by 1
  );
  busy_as := 'dependent';
  if cardinality(busy) > 0 then return; end if;
  busy_as := null;
end $$;

-- Moves ended tasks, which `try_lock_ended` has locked, back to `live`: p_ids and, with them in p_all, everything that was
-- skipped because of them. Their requirements are counted anew. Dependents that have not started wait for them again.
-- Answers how many tasks can be claimed.
create function millrace.unfinish(
  p_ids bigint[], p_all bigint[], p_name text, p_cause text, p_culprit bigint, p_actor text
) returns int
language plpgsql as $$
declare
  v_free bigint[];
begin
  -- Whatever was still to be taken off their counts belongs to the past: they are counted anew below.
  delete from millrace.effect f where f.kind in ('unblock', 'skip', 'rerun') and f.ref = any(p_all);
  perform millrace.reblock(p_all);

  with gone as (
    delete from millrace.done d where d.id = any(p_all) returning d.*
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
  where l.id = any(p_all);
  v_free := array(select l.id from millrace.live l where l.id = any(p_all) and l.unmet = 0);
  perform millrace.doom(array(select l.id from millrace.live l where l.id = any(p_all) and l.unmet > 0));
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

-- Runs succeeded tasks again because a requirement of theirs has. Never waits: what is locked is left to a later
-- transaction.
create function millrace.rerun_dependents(p_ids bigint[], p_culprits bigint[]) returns int
language plpgsql as $$
declare
  v_next      record;
  v_ids       bigint[];
  v_all       bigint[];
  v_busy_as   text;
  v_claimable int := 0;
begin
  perform millrace.insist_read_committed();
  for v_next in select x.id, min(x.culprit) as culprit from unnest(p_ids, p_culprits) x(id, culprit) group by x.id order by x.id loop
    select l.ids, l.revived, l.busy_as into v_ids, v_all, v_busy_as from millrace.try_lock_ended(array[v_next.id], true) l;
    if v_busy_as is not null then
      insert into millrace.effect (kind, ref, culprit, stalled) values ('rerun', v_next.id, v_next.culprit, pg_current_xact_id());
    elsif cardinality(v_ids) > 0 then
      v_claimable := v_claimable + millrace.unfinish(v_ids, v_all, 'rerun', 'a requirement ran again', v_next.culprit, null);
    end if;
  end loop;
  return v_claimable;
end $$;

-- Marks a task as succeeded by hand, whatever had become of it, unless it runs. Answers whether it did.
create function millrace.succeed(p_id bigint, p_cause text, p_actor text) returns boolean
language plpgsql as $$
declare
  v_ids       bigint[];
  v_all       bigint[];
  v_claimable int := 0;
begin
  select l.ids, l.revived into v_ids, v_all from millrace.lock_ended(array[p_id], false) l;
  if cardinality(v_ids) > 0 then
    v_claimable := millrace.unfinish(v_ids, v_all, 'reopened', p_cause, null, p_actor);
  end if;
  perform 1 from millrace.live l where l.id = p_id and l.state <> 'running' for update;
  if not found then return false; end if;
  delete from millrace.effect f where f.ref = p_id and f.kind in ('unblock', 'skip', 'supersede', 'complete');
  v_claimable := v_claimable + millrace.conclude(array[p_id], 'succeeded', p_cause, null, p_actor);
  if exists (select 1 from millrace.effect) then v_claimable := v_claimable + millrace.pump(); end if;
  if v_claimable > 0 then perform millrace.wake(); end if;
  return true;
end $$;
