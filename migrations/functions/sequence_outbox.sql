-- Gives numbers to the events of transactions that have committed, without gaps, and answers the newest number.
--
-- What was committed since the page before is what its snapshot did not see: transactions that began later, and those
-- that were running then. So an event that commits late is not passed over; it comes later in the line, however long its
-- transaction took, and a transaction that runs for hours holds up no other's events. Rows that were written but not
-- committed are invisible here. Must be a transaction of its own: what it writes itself no later snapshot lacks.
create function millrace.sequence_outbox() returns bigint
language plpgsql as $$
declare
  v_page millrace.outbox_page;
  v_last bigint;
begin
  perform millrace.insist_read_committed();
  if pg_current_xact_id_if_assigned() is not null then
    raise exception 'events are given numbers in a transaction of their own, and this one has written already';
  end if;
  -- Whoever holds the lock does the work; it is not worth waiting for.
  if pg_try_advisory_xact_lock(7420003) then
    -- A new statement, hence a snapshot that sees the page of whoever had the lock before.
    select * into v_page from millrace.outbox_page p order by p.first desc limit 1;
    if pg_snapshot_xmax(v_page.seen) > pg_snapshot_xmax(pg_current_snapshot())
      or exists (select 1 from millrace.outbox o where o.xid >= pg_snapshot_xmax(pg_current_snapshot())) then
      return millrace.restart_outbox(v_page);
    end if;
    insert into millrace.outbox_page (first, last, line, seen, xids, ids, numbers)
    select min(fresh.number), max(fresh.number + fresh.size - 1), coalesce(v_page.line, 0) + max(fresh.n), pg_current_snapshot(),
      array_agg(fresh.xid order by fresh.n), array_agg(fresh.id order by fresh.n), array_agg(fresh.number order by fresh.n)
    from (
      select told.xid, told.id, told.size, row_number() over line as n,
        coalesce(v_page.last, 0) + 1 + sum(told.size) over line - told.size as number
      from (
        select o.xid, o.id, millrace.event_count(o) as size
        from millrace.outbox o
        where o.xid >= coalesce(pg_snapshot_xmax(v_page.seen), '0')
        union all
        select o.xid, o.id, millrace.event_count(o)
        from pg_snapshot_xip(v_page.seen) running(xid) join millrace.outbox o on o.xid = running.xid
      ) told
      window line as (order by told.id)
    ) fresh
    group by (fresh.n - 1) / 1000;
  end if;
  select p.last into v_last from millrace.outbox_page p order by p.first desc limit 1;
  return coalesce(v_last, 0);
end $$;

-- In a copy of the database on another server, transactions are counted anew, and the numbers that were kept of them mean
-- nothing. The line goes on empty, behind a gap: subscribers are told to read the present state.
create function millrace.restart_outbox(p_page millrace.outbox_page) returns bigint
language plpgsql as $$
declare
  v_last bigint := coalesce(p_page.last, 0) + 2;
begin
  delete from millrace.outbox;
  delete from millrace.outbox_page;
  insert into millrace.outbox_page (first, last, line, seen, xids, ids, numbers)
  values (v_last, v_last, coalesce(p_page.line, 0), pg_current_snapshot(), '{}', '{}', '{}');
  return v_last;
end $$;
