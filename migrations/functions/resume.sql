-- Gives tasks back to a process that lost its lease, works on them, and is the dispatcher p_holder now. Each claim raises the epoch:
-- where it is the same, no other attempt has begun, and the attempt continues with a new token. Returns what became of each:
-- `resumed`; `open`, when it cannot be taken back yet; `gone`, when another attempt has begun or the task was retried.
create function millrace.resume(p_holder int, p_ids bigint[], p_epochs int[]) returns table (id bigint, fate text)
language plpgsql as $$
#variable_conflict use_column
declare
  v_resumed bigint[];
begin
  v_resumed := array(
    select l.id
    from (select p.* from unnest(p_ids, p_epochs) p(id, epoch) order by p.id) p
      cross join lateral (
        select r.id
        from millrace.live r
        where r.id = p.id and r.epoch = p.epoch and r.lost_by is not null and r.state = 'ready' and r.gate is null
        for update skip locked
      ) l
    where exists (select 1 from millrace.dispatcher d where d.id = p_holder and d.dead_at is null)
  );
  if cardinality(v_resumed) > 0 then
    perform millrace.keep_readied(v_resumed);
    with lost as (
      delete from millrace.attempt a
      using millrace.live l
      where l.id = any(v_resumed) and a.task = l.id and a.epoch = l.epoch and a.holder = l.lost_by and a.outcome = 'lease_lost'
      returning a.*
    ),
    told as (
      insert into millrace.event (task, at, name, prior, next, cause, detail)
      select o.task, o.ended_at, 'lease_lost', 'running'::millrace.state, o.next, null, o.error from lost o
      union all
      select o.task, clock_timestamp(), 'resumed', 'ready'::millrace.state, 'running'::millrace.state,
        format('dispatcher %s is back as %s, and no other attempt has begun', o.holder, p_holder), null
      from lost o
    )
    update millrace.live l
    set state      = 'running',
        holder     = p_holder,
        lost_by    = null,
        ready_at   = o.ready_at,
        started_at = o.started_at,
        -- As before the loss was counted.
        deaths     = greatest(l.deaths - 1, 0),
        is_begun   = l.deaths > 1
    from lost o
    where l.id = o.task;
    insert into millrace.outbox (name, next, tasks, priors, holder)
    values ('resumed', 'running', v_resumed, array_fill('ready'::millrace.state, array[cardinality(v_resumed)]), p_holder);
  end if;
  return query
  select p.id,
    case
      -- Also when asked again, since the answer was lost.
      when p.id = any(v_resumed) or l.holder = p_holder then 'resumed'
      when l.lost_by is not null or l.state = 'running' then 'open'
      else 'gone'
    end
  from unnest(p_ids, p_epochs) p(id, epoch)
    left join lateral (select r.* from millrace.live r where r.id = p.id and r.epoch = p.epoch offset 0) l on true;
end $$;
