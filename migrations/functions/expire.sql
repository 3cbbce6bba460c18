-- Takes the tasks of dispatchers whose lease ran out away from them, so that others run them. `count` says how many.
--
-- A dispatcher is marked dead first; a claim of its own that was under way at that moment may still commit, so its tasks
-- are looked for a second time, one lease later; `expires_at` then says when. A task that its holder has locked, in a
-- callback's transaction, is tried again every time.
--
-- A lease that ran out while the database was away says nothing about its holder. So the caller says since when it has been
-- in touch with the database, and when it last was: it echoes `since` and `last` of the answer before, null at first. With a
-- gap of more than p_gap_seconds in between the time in touch begins again, and a dispatcher loses its tasks only to
-- a caller that has been in touch for half of that dispatcher's lease, at least two seconds: long enough for it to
-- renew its lease first. All of it is decided when this runs, not when it was sent: it may have waited in a database that stood still.
create function millrace.expire(
  p_max_deaths int default 5, p_since timestamptz default '-infinity', p_last timestamptz default 'infinity', p_gap_seconds float8 default 0,
  out count int, out since timestamptz, out last timestamptz
)
language plpgsql as $$
declare
  v_dispatcher record;
  v_ids        bigint[];
  v_epochs     int[];
  v_back       int;
begin
  count := 0;
  last := clock_timestamp();
  since := case when p_last + make_interval(secs => p_gap_seconds) >= last then p_since else last end;
  for v_dispatcher in
    select d.id, d.dead_at, d.lease_seconds, d.stopped_at is not null as is_stopped
    from millrace.dispatcher d
    where d.swept_at is null and d.expires_at < last
      and (d.stopped_at is not null or since + make_interval(secs => greatest(d.lease_seconds / 2, 2)) <= last)
    order by d.id
    for update skip locked
  loop
    delete from millrace.idle i where i.dispatcher = v_dispatcher.id;
    update millrace.dispatcher d set dead_at = clock_timestamp() where d.id = v_dispatcher.id and d.dead_at is null;
    if found and not v_dispatcher.is_stopped then perform millrace.tell_worker(v_dispatcher.id, 'worker.died'); end if;
    select array_agg(l.id), array_agg(l.epoch) into v_ids, v_epochs
    from millrace.live l
    where l.holder = v_dispatcher.id and l.state = 'running';
    v_back := 0;
    if v_ids is not null then
      select count(*) into v_back
      from millrace.requeue(v_dispatcher.id, v_ids, v_epochs, 'lease_lost', null,
        array_fill(jsonb_build_object('code', 'lease_lost', 'category', 'transient', 'message', 'the lease ran out: its dispatcher died or lost the database'), array[cardinality(v_ids)]),
        p_max_deaths);
    end if;
    count := count + v_back;
    if v_back < coalesce(cardinality(v_ids), 0) then continue; end if;
    if v_dispatcher.dead_at + make_interval(secs => v_dispatcher.lease_seconds) < clock_timestamp() then
      update millrace.dispatcher d set swept_at = clock_timestamp() where d.id = v_dispatcher.id;
    else
      update millrace.dispatcher d
      set expires_at = d.dead_at + make_interval(secs => d.lease_seconds)
      where d.id = v_dispatcher.id;
    end if;
  end loop;
end $$;
