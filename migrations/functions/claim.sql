-- Leases up to p_limit ready tasks of the lanes to the dispatcher p_holder, most urgent first, then first ready.
--
-- (p_from_priority[i], p_from_order[i]) says how far the dispatcher has claimed lane i already, so that the scan does not
-- walk again over index entries of tasks that are gone but not vacuumed. What commits late, or is more urgent, lies before
-- the mark: the dispatcher looks from the start every so often.
create function millrace.claim(p_holder int, p_lanes int[], p_from_priority int[], p_from_order bigint[], p_limit int)
returns table (
  id bigint, epoch int, lane int, priority int, ready_order bigint, failures smallint, deaths smallint,
  scope text, key text, creator bigint, payload jsonb
)
language plpgsql as $$
#variable_conflict use_column
begin
  -- A dispatcher whose lease ran out may not know it yet.
  if not exists (select 1 from millrace.dispatcher d where d.id = p_holder and d.dead_at is null) then return; end if;
  if cardinality(p_lanes) = 1 then
    return query
    with leased as (
      update millrace.live l
      set state = 'running', holder = p_holder, epoch = l.epoch + 1, started_at = clock_timestamp()
      where l.ctid = any(array(
        select r.ctid
        from millrace.live r
        where r.state = 'ready' and r.gate is null and r.lane = p_lanes[1]
          and (r.priority, r.ready_order) > (p_from_priority[1], p_from_order[1])
        order by r.priority, r.ready_order
        limit p_limit
        for no key update skip locked
      ))
      returning l.id, l.epoch, l.lane, l.priority, l.ready_order, l.failures, l.deaths
    )
    select u.id, u.epoch, u.lane, u.priority, u.ready_order, u.failures, u.deaths, t.scope, t.key, t.creator, t.payload
    from leased u join millrace.task t on t.id = u.id
    order by u.priority, u.ready_order;
  else
    return query
    with next as materialized (
      select r.tid
      from unnest(p_lanes, p_from_priority, p_from_order) m(lane, from_priority, from_order)
        cross join lateral (
          select l.ctid as tid, l.priority, l.ready_order
          from millrace.live l
          where l.state = 'ready' and l.gate is null and l.lane = m.lane
            and (l.priority, l.ready_order) > (m.from_priority, m.from_order)
          order by l.priority, l.ready_order
          limit p_limit
          for no key update skip locked
        ) r
      order by r.priority, r.ready_order
      limit p_limit
    ),
    leased as (
      update millrace.live l
      set state = 'running', holder = p_holder, epoch = l.epoch + 1, started_at = clock_timestamp()
      where l.ctid = any(array(select n.tid from next n))
      returning l.id, l.epoch, l.lane, l.priority, l.ready_order, l.failures, l.deaths
    )
    select u.id, u.epoch, u.lane, u.priority, u.ready_order, u.failures, u.deaths, t.scope, t.key, t.creator, t.payload
    from leased u join millrace.task t on t.id = u.id
    order by u.priority, u.ready_order;
  end if;
end $$;
