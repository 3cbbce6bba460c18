-- Registers a dispatcher and gives it a lease. A dispatcher that lost its lease registers anew: the number is the
-- incarnation, half of the fencing token.
create function millrace.register(
  p_name text, p_lease_seconds float8, p_lanes int[], p_host text default null, p_facts jsonb default '{}', p_before int default null
) returns int
language sql as $$
  insert into millrace.dispatcher (name, lease_seconds, expires_at, lanes, host, slots, process, version, wanted, wanted_at, wanted_by)
  select p_name, p_lease_seconds, clock_timestamp() + make_interval(secs => p_lease_seconds), p_lanes, p_host,
    (p_facts ->> 'slots')::int, (p_facts ->> 'process')::int, p_facts ->> 'version',
    -- What was asked of its life before is asked of this one.
    coalesce(b.wanted, 'running'), b.wanted_at, b.wanted_by
  from (select 1) one left join millrace.dispatcher b on b.id = p_before
  returning id
$$;

-- Tells subscribers of a dispatcher.
create function millrace.tell_worker(p_id int, p_name text, p_actor text default null) returns void
language sql as $$
  insert into millrace.outbox (name, scope, tasks, actor, details)
  select p_name, 'worker:' || d.name, array[null::bigint], p_actor,
    array[jsonb_build_object('worker', d.id, 'name', d.name, 'host', d.host, 'wanted', d.wanted)]
  from millrace.dispatcher d
  where d.id = p_id
$$;

-- Asks a live dispatcher to pause, to drain or to run. Answers whether there was one.
create function millrace.want_worker(p_id int, p_wanted text, p_actor text) returns boolean
language plpgsql as $$
begin
  update millrace.dispatcher d
  set wanted = p_wanted, wanted_at = clock_timestamp(), wanted_by = p_actor
  where d.id = p_id and d.dead_at is null and d.expires_at > clock_timestamp();
  if not found then return false; end if;
  perform millrace.tell_worker(
    p_id, case p_wanted when 'running' then 'worker.resumed' when 'paused' then 'worker.paused' else 'worker.drained' end, p_actor
  );
  -- It looks at what was asked of it when it looks for what is to be canceled.
  perform pg_notify('millrace_cancel', p_id::text);
  return true;
end $$;

-- Renews the lease of everything the dispatcher runs, and keeps how far it has claimed. Answers whether it still had one,
-- and what it was asked to stop.
create function millrace.heartbeat(p_holder int, p_reached jsonb default null, out is_alive boolean, out canceling bigint[], out wanted text)
language plpgsql as $$
begin
  update millrace.dispatcher d
  set expires_at = clock_timestamp() + make_interval(secs => d.lease_seconds), reached = coalesce(p_reached, d.reached)
  where d.id = p_holder and d.dead_at is null
  returning d.wanted into wanted;
  is_alive := found;
  canceling := millrace.canceling(p_holder);
end $$;

create function millrace.canceling(p_holder int) returns bigint[]
language sql as $$
  select array(select l.id from millrace.live l where l.holder = p_holder and l.cancel_cause is not null)
$$;

-- Ends a dispatcher that has handed back everything it held.
create function millrace.unregister(p_holder int, p_reached jsonb default null) returns void
language plpgsql as $$
begin
  delete from millrace.idle i where i.dispatcher = p_holder;
  -- Already expired for others: should anything have been left, it is found by expire like that of a dead one.
  update millrace.dispatcher d
  set expires_at = clock_timestamp(), stopped_at = clock_timestamp(), reached = coalesce(p_reached, d.reached)
  where d.id = p_holder and d.dead_at is null;
end $$;

-- Where a dispatcher begins to look, as [lane, priority, order] behind which to look, while more than p_few tasks are gone
-- and not vacuumed: behind the farthest that any has claimed, and before all that one has claimed and not begun, since it
-- may give that back. Otherwise null: from the start. An element of `reached` is [lane, priority, order, first not begun].
create function millrace.begin_behind(p_lanes int[], p_few bigint, out gone bigint, out marks json)
language plpgsql stable as $$
begin
  gone := pg_stat_get_dead_tuples('millrace.live'::regclass);
  if gone <= p_few then return; end if;
  select json_agg(json_build_array(m.lane, m.priority, m.behind::text))
  into marks
  from (
    select (r.place ->> 0)::int as lane, (r.place ->> 1)::int as priority,
      least(max((r.place ->> 2)::bigint), min((r.place ->> 3)::bigint) - 1) as behind
    from millrace.dispatcher d cross join lateral jsonb_array_elements(d.reached) r(place)
    where d.swept_at is null or d.id = (
      select e.id from millrace.dispatcher e where e.lanes && p_lanes and e.reached is not null order by e.id desc limit 1
    )
    group by 1, 2
  ) m
  where m.lane = any(p_lanes);
end $$;

create function millrace.set_idle(p_holder int, p_lanes int[], p_is_idle boolean) returns void
language plpgsql as $$
begin
  if p_is_idle then
    insert into millrace.idle (dispatcher, lanes) values (p_holder, p_lanes) on conflict do nothing;
  else
    delete from millrace.idle i where i.dispatcher = p_holder;
  end if;
end $$;

-- Marks a task that was on a dispatcher when it died as begun, before its work starts again: only what had begun is
-- suspected of having killed its dispatcher.
create function millrace.begin_suspect(p_holder int, p_id bigint, p_epoch int) returns boolean
language plpgsql as $$
begin
  update millrace.live l set is_begun = true
  where l.id = p_id and l.holder = p_holder and l.epoch = p_epoch and l.state = 'running';
  return found;
end $$;
