-- Tasks that ran in a time, of one dispatcher or of all: those that ended, p_limit at most and of p_scan that are looked
-- at, and those that run. is_cut says that there may be more. Of those that ended later than a day after the time nobody
-- is told: a time long past would otherwise cost all that ended since.
create function millrace.window_tasks(
  p_from timestamptz, p_to timestamptz, p_holder int, p_limit int, p_scan int, out ids bigint[], out is_cut boolean
)
language plpgsql stable
set enable_bitmapscan = on set enable_seqscan = off set jit = off set max_parallel_workers_per_gather = 0 as $$
declare
  v_scanned int;
begin
  select coalesce(array_agg(seen.id) filter (where p_holder is null or seen.holder = p_holder), '{}'), count(*)
  into ids, v_scanned
  from (
    select d.id, d.holder
    from millrace.done d
    where d.finished_at >= p_from and d.finished_at <= p_to + interval '1 day' and d.started_at <= p_to
    limit case when p_holder is null then p_limit else p_scan end
  ) seen;
  is_cut := v_scanned >= case when p_holder is null then p_limit else p_scan end or cardinality(ids) > p_limit;
  ids := ids[1 : p_limit];
  ids := ids || array(
    with running as materialized (
      select l.id
      from millrace.live l
      where l.state = 'running' and l.started_at <= p_to and (p_holder is null or l.holder = p_holder)
    )
    select r.id from running r order by r.id limit p_limit - cardinality(ids)
  );
end $$;
