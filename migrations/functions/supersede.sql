-- Lets tasks whose requirements are met cancel the earlier ones they name: what is not running is canceled at once, a
-- running one is asked to stop and waited for. Never waits for a lock. Answers how many tasks can be claimed.
create function millrace.supersede(p_ids bigint[]) returns int
language plpgsql as $$
declare
  v_id        bigint;
  v_targets   bigint[];
  v_locked    bigint[];
  v_running   bigint[];
  v_idle      bigint[];
  v_claimable int := 0;
begin
  foreach v_id in array p_ids loop
    perform 1
    from millrace.live l
    where l.id = v_id and l.state = 'waiting' and l.unmet = 0
    for update skip locked;
    if not found then
      insert into millrace.effect (kind, ref, stalled)
      select 'supersede', l.id, pg_current_xact_id()
      from millrace.live l
      where l.id = v_id and l.state = 'waiting' and l.unmet = 0;
      continue;
    end if;

    v_targets := array(select x from millrace.targets_of(v_id) x order by x);
    v_locked := array(select l.id from millrace.live l where l.id = any(v_targets) order by l.id for update skip locked);
    v_running := array(select l.id from millrace.live l where l.id = any(v_locked) and l.state = 'running');
    v_idle := array(select l.id from millrace.live l where l.id = any(v_locked) and l.state <> 'running');

    if cardinality(v_idle) > 0 then
      v_claimable := v_claimable + millrace.conclude(
        v_idle, 'canceled', format('superseded by task %s', v_id), array_fill(v_id, array[cardinality(v_idle)]), null
      );
    end if;
    if cardinality(v_running) > 0 then
      perform millrace.request_cancel(v_running, format('superseded by task %s', v_id), v_id, null);
      with added as (
        insert into millrace.edge (prerequisite, dependent, condition)
        select x, v_id, 'ended' from unnest(v_running) x
        on conflict do nothing
        returning 1
      )
      update millrace.live l set unmet = l.unmet + (select count(*) from added) where l.id = v_id;
    elsif cardinality(v_locked) < cardinality(v_targets) then
      -- `make_ready` would find the same and send it back here, again and again within this transaction.
      insert into millrace.effect (kind, ref, stalled) values ('supersede', v_id, pg_current_xact_id());
    else
      v_claimable := v_claimable + millrace.make_ready(array[v_id]);
    end if;
  end loop;
  return v_claimable;
end $$;

-- Asks running tasks, whose rows the caller has locked, to stop. They end when their worker has.
create function millrace.request_cancel(p_ids bigint[], p_cause text, p_by bigint, p_actor text) returns void
language plpgsql as $$
declare
  v_holder int;
begin
  with asked as (
    insert into millrace.event (task, name, prior, next, cause, culprit, actor)
    select l.id, 'cancel_requested', 'running', 'running', p_cause, p_by, p_actor
    from millrace.live l
    where l.id = any(p_ids) and l.cancel_cause is null
    returning task
  )
  insert into millrace.outbox (name, tasks, culprits, cause, actor)
  select 'cancel_requested', array_agg(a.task), case when p_by is not null then array_fill(p_by, array[count(*)::int]) end, p_cause, p_actor
  from asked a having count(*) > 0;
  for v_holder in
    with asked as (
      update millrace.live l
      -- The cause is the sign that it was asked, so it is never null.
      set cancel_cause = coalesce(p_cause, ''), cancel_by = p_by, cancel_actor = p_actor
      where l.id = any(p_ids) and l.cancel_cause is null
      returning l.holder
    )
    select distinct asked.holder from asked
  loop
    perform pg_notify('millrace_cancel', v_holder::text);
  end loop;
end $$;

-- The unfinished tasks that a task cancels when it becomes ready: those it names and, along a chain, those that a named
-- one would have canceled. Whoever has become ready has done so itself: there the chain ends.
create function millrace.targets_of(p_id bigint) returns setof bigint
language sql stable as $$
  with recursive named as (
    select s.target, s.is_chain from millrace.supersede s where s.task = p_id
    union
    select s.target, s.is_chain
    from named n join millrace.supersede s on s.task = n.target
    where n.is_chain and s.is_chain
      and (select l.ready_at from millrace.live l where l.id = n.target) is null
      and (select d.ready_at from millrace.done d where d.id = n.target) is null
  )
  select distinct t.id from named n join millrace.live t on t.id = n.target
$$;
