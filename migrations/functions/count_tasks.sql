-- How many tasks are in each state. Small tables are counted; of large ones a sample of pages is, and the answer says
-- that it is an estimate. States that are rare in a large table are counted from their index.
create function millrace.count_tasks() returns table (state millrace.state, count bigint, is_exact boolean)
language plpgsql stable as $$
#variable_conflict use_column
declare
  v_pages constant float8 := 300;
  v_few   constant int := 5000;
  v_live  float8 := least(100, 100 * v_pages * 8192 / greatest(1, pg_relation_size('millrace.live')));
  v_done  float8 := least(100, 100 * v_pages * 8192 / greatest(1, pg_relation_size('millrace.done')));
begin
  return query
  with sampled as (
    select l.state, count(*) * 100 / v_live as n, v_live >= 100 as is_exact
    from millrace.live l tablesample system (v_live)
    group by l.state
    union all
    select d.state, count(*) * 100 / v_done, v_done >= 100
    from millrace.done d tablesample system (v_done)
    group by d.state
  ),
  indexed as (
    select 'running'::millrace.state as state, count(*) as n
    from (select 1 from millrace.live l where l.state = 'running' limit v_few) s
    union all
    select 'held', count(*) from (select 1 from millrace.live l where l.state = 'held' limit v_few) s
    union all
    select 'delayed', count(*) from (select 1 from millrace.live l where l.state = 'delayed' limit v_few) s
    union all
    select u.state, count(s.id)
    from unnest(array['failed', 'canceled', 'skipped']::millrace.state[]) u(state)
      left join lateral (
        select d.id from millrace.done d where d.state <> 'succeeded' and d.state = u.state limit v_few
      ) s on true
    group by u.state
  )
  select e.state,
    case
      when s.is_exact then s.n::bigint
      when i.n < v_few then i.n
      else greatest(s.n::bigint, i.n, 0)
    end,
    coalesce(s.is_exact, false) or coalesce(i.n < v_few, false) or case
      when e.state in ('succeeded', 'failed', 'canceled', 'skipped') then v_done >= 100 else v_live >= 100 end
  from unnest(enum_range(null::millrace.state)) e(state)
    left join sampled s on s.state = e.state
    left join indexed i on i.state = e.state
  order by e.state;
end $$;
