-- How many tasks ended in each of p_buckets equal parts of a time, the newest first, and how long they waited and ran.
--
-- A part with many is not read as a whole: a slice at its end is, of about p_rows by the rate of the part after it, and the
-- counts are scaled up (is_exact: false). After p_budget_ms the parts that are left are not answered.
-- `waits` and `runs` are 20 quantiles each, in seconds, of 0.025 to 0.975; null when nothing of that part ran.
create function millrace.throughput(p_from timestamptz, p_to timestamptz, p_buckets int, p_rows int, p_budget_ms float8)
returns table (
  bucket int, succeeded bigint, failed bigint, canceled bigint, skipped bigint, is_exact boolean, waits float8[], runs float8[]
)
language plpgsql stable
set enable_bitmapscan = on set enable_seqscan = off set enable_indexscan = off set enable_indexonlyscan = off
set jit = off set max_parallel_workers_per_gather = 0 as $$
declare
  v_until  timestamptz := clock_timestamp() + make_interval(secs => p_budget_ms / 1000);
  v_length float8 := extract(epoch from p_to - p_from) / p_buckets;
  v_share  float8 := least(1, 5 / greatest(v_length, 0.001)); -- at first five seconds, to learn the rate
  v_end    timestamptz;
  v_seen   bigint;
begin
  for i in reverse p_buckets - 1 .. 0 loop
    v_end := p_from + make_interval(secs => v_length * (i + 1));
    loop
      select count(*), count(*) filter (where d.state = 'succeeded') / v_share, count(*) filter (where d.state = 'failed') / v_share,
        count(*) filter (where d.state = 'canceled') / v_share, count(*) filter (where d.state = 'skipped') / v_share,
        percentile_cont(array(select (n - 0.5) / 20 from generate_series(1, 20) n)) within group (
          order by extract(epoch from d.started_at - d.ready_at)::float8
        ) filter (where d.prior is null and d.started_at is not null and d.ready_at is not null),
        percentile_cont(array(select (n - 0.5) / 20 from generate_series(1, 20) n)) within group (
          order by extract(epoch from d.finished_at - d.started_at)::float8
        ) filter (where d.prior is null and d.started_at is not null)
      into v_seen, succeeded, failed, canceled, skipped, waits, runs
      from millrace.done d
      where d.finished_at > v_end - make_interval(secs => v_length * v_share) and d.finished_at <= v_end;
      -- There were fewer than could be read: read more of this part, not all at once: behind nothing there may be much.
      exit when v_share >= 1 or v_seen >= p_rows / 4 or clock_timestamp() > v_until;
      v_share := least(1, v_share * case when v_seen = 0 then 4 else greatest(2, p_rows / v_seen::float8 / 2) end);
    end loop;
    bucket := i;
    is_exact := v_share >= 1;
    return next;
    if clock_timestamp() > v_until then return; end if;
    v_share := least(1, v_share * p_rows / greatest(v_seen, 1)::float8);
  end loop;
end $$;
