-- Takes the tasks of dispatchers whose lease ran out away from them, so that others run them. Answers how many.
--
-- A dispatcher is marked dead first; a claim of its own that was under way at that moment may still commit, so its tasks
-- are looked for a second time, one lease later; `expires_at` then says when. A task that its holder has locked, in a
-- callback's transaction, is tried again every time.
create function millrace.expire(p_max_deaths int default 5) returns int
language plpgsql as $$
declare
  v_dispatcher record;
  v_ids        bigint[];
  v_epochs     int[];
  v_back       int;
  v_total      int := 0;
begin
  for v_dispatcher in
    select d.id, d.dead_at, d.lease_seconds, d.stopped_at is not null as is_stopped
    from millrace.dispatcher d
    where d.swept_at is null and d.expires_at < clock_timestamp()
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
    v_total := v_total + v_back;
    if v_back < coalesce(cardinality(v_ids), 0) then continue; end if;
    if v_dispatcher.dead_at + make_interval(secs => v_dispatcher.lease_seconds) < clock_timestamp() then
      update millrace.dispatcher d set swept_at = clock_timestamp() where d.id = v_dispatcher.id;
    else
      update millrace.dispatcher d
      set expires_at = d.dead_at + make_interval(secs => d.lease_seconds)
      where d.id = v_dispatcher.id;
    end if;
  end loop;
  return v_total;
end $$;
