-- Deletes up to p_limit rows of the outbox that are older than p_seconds, or more than the newest p_rows. Answers how
-- many. The last page always stays: the line goes on from it.
create function millrace.prune_outbox(p_seconds float8, p_rows bigint, p_limit int) returns int
language plpgsql as $$
declare
  v_newest millrace.outbox_page;
  v_firsts bigint[];
  v_count  int;
begin
  if not pg_try_advisory_xact_lock(7420003) then return 0; end if;
  select * into v_newest from millrace.outbox_page p order by p.first desc limit 1;
  v_firsts := array(
    select old.first
    from (
      select p.first, sum(cardinality(p.ids)) over line as up_to,
        -- A clock that was set back must not tear a hole into the line.
        bool_and(p.at < clock_timestamp() - make_interval(secs => p_seconds) or p.line <= v_newest.line - p_rows) over line as is_due
      from (select * from millrace.outbox_page q where q.first < v_newest.first order by q.first limit p_limit) p
      window line as (order by p.first)
    ) old
    where old.is_due and old.up_to <= greatest(p_limit, 1000)
  );
  delete from millrace.outbox o
  using millrace.outbox_page p, unnest(p.xids, p.ids) x(xid, id)
  where p.first = any(v_firsts) and o.xid = x.xid and o.id = x.id;
  get diagnostics v_count = row_count;
  delete from millrace.outbox_page p where p.first = any(v_firsts);
  return v_count;
end $$;
