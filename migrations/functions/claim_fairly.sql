-- Claims up to p_limit ready tasks of the lanes so that scopes share the dispatcher: the most urgent first, then those of the
-- scope of which this dispatcher runs the fewest, counting what this claim takes, then the first ready. Returns what `lease`
-- returns of its tasks, and their ids.
--
-- Each claim looks at the first 2,000 ready tasks of each lane. Limits keep all that is claimable of one archive or of the
-- nodes far below that. Should one scope fill the line nevertheless, the line moves on with each claim, and what stands first
-- in it is always seen: no task waits for ever.
create function millrace.claim_fairly(p_holder int, p_lanes int[], p_limit int, out tasks json, out leased bigint[])
language plpgsql as $$
declare
  v_seen   bigint[] := '{}';
  v_chosen bigint[];
  v_taken  bigint[];
begin
  loop
    with claimable as materialized (
      select r.id, r.priority, r.ready_order
      from unnest(p_lanes) asked(lane)
        cross join lateral (
          select l.id, l.priority, l.ready_order
          from millrace.live l
          where l.state = 'ready' and l.gate is null and l.lane = asked.lane
          order by l.priority, l.ready_order
          limit 2000
        ) r
      where r.id <> all(v_seen)
    ),
    -- Running tasks come first in their scope, so that the place of a ready one counts them.
    placed as (
      select s.id, s.is_running, s.priority, s.ready_order,
        row_number() over (partition by t.scope order by s.is_running desc, s.priority, s.ready_order) as place
      from (
        select c.id, false as is_running, c.priority, c.ready_order from claimable c
        union all
        select l.id, true, l.priority, l.ready_order from millrace.live l where l.holder = p_holder and l.state = 'running'
      ) s
        -- One look for each, whatever the planner knows of the table.
        cross join lateral (select a.scope from millrace.task a where a.id = s.id offset 0) t
    )
    select array_agg(c.id) into v_chosen
    from (
      select p.id from placed p where not p.is_running
      order by p.priority, p.place, p.ready_order
      limit p_limit - coalesce(cardinality(leased), 0)
    ) c;
    exit when v_chosen is null;
    v_seen := v_seen || v_chosen;
    with taken as (
      update millrace.live l
      set state = 'running', holder = p_holder, epoch = l.epoch + 1, started_at = clock_timestamp()
      where l.ctid = any(array(
        select r.ctid
        from millrace.live r
        where r.id = any(v_chosen) and r.state = 'ready' and r.gate is null and r.lane = any(p_lanes)
        for no key update skip locked
      ))
        -- As in `lease`: a dispatcher that died must not take what was just taken from it.
        and (select e.dead_at is null from millrace.dispatcher e where e.id = p_holder)
      returning l.id
    )
    select array_agg(t.id) into v_taken from taken t;
    leased := leased || v_taken;
    -- Of what others have locked, the next ones take the place.
    exit when cardinality(leased) >= p_limit
      or (v_taken is null and (select e.dead_at is not null from millrace.dispatcher e where e.id = p_holder));
  end loop;
  if leased is null then return; end if;
  select json_build_array(
      string_agg(s.id::text, ','), json_agg(s.epoch), json_agg(s.lane), json_agg(s.priority), string_agg(s.ready_order::text, ','),
      json_agg(s.failures), json_agg(s.deaths), json_agg(s.scope), json_agg(s.key), json_agg(s.creator::text), json_agg(s.payload)
    )
  into tasks
  from (
    select l.id, l.epoch, l.lane, l.priority, l.ready_order, l.failures, l.deaths, t.scope, t.key, t.creator, t.payload
    from millrace.live l
      cross join lateral (
        select a.scope, a.key, a.creator, a.payload from millrace.task a where a.id = l.id offset 0
      ) t
    where l.id = any(leased)
    order by l.priority, l.ready_order
  ) s;
end $$;
