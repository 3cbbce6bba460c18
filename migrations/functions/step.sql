-- The dispatcher's round trip: record successes, apply what is pending, lease up to p_limit ready tasks of the lanes, most
-- urgent first, then first ready; one commit. Answers the tasks, which successes were taken (null: all), and when to look
-- again, as one JSON value. Of many tasks it holds each fact of all (`tasks`), of a hop's one task all facts (`task`).
--
-- (p_from_priority[i], p_from_order[i]) says how far the dispatcher has claimed lane i already, so that the scan does not
-- walk again over index entries of tasks that are gone but not vacuumed. What commits late, or is more urgent, lies before
-- the mark: the dispatcher looks from the start every so often. A lane may be given several times, with a mark for each
-- priority, up to p_to_priority[i]. Besides, slices of what lies before the marks may be given, each of one priority, from
-- behind p_slice_from up to p_slice_to[i].
--
-- p_idle says that the dispatcher has room and found nothing (true), or has more than it can take (false); null leaves
-- that as it was.
--
-- p_is_fair: scopes share the dispatcher, as `claim_fairly` says. Then it looks from the start in any case, and the next task of
-- a chain gets no place before others.
create function millrace.step(
  p_holder int, p_ids bigint[], p_epochs int[], p_outputs jsonb[], p_unchanged bigint[],
  p_lanes int[], p_from_priority int[], p_from_order bigint[], p_limit int, p_idle boolean default null,
  p_to_priority int[] default null,
  p_slice_lanes int[] default null, p_slice_priority int[] default null, p_slice_from bigint default null, p_slice_to bigint[] default null,
  p_is_fair boolean default false
)
returns json
language plpgsql as $$
declare
  v_accepted bigint[];
  v_readied  bigint[];
  v_answer   json;
begin
  if p_idle is not null then perform millrace.set_idle(p_holder, p_lanes, p_idle); end if;
  if cardinality(p_ids) = 1 and p_limit > 0 and p_slice_lanes is null and not p_is_fair then
    v_answer := millrace.hop(
      p_holder, p_ids[1], p_epochs[1], p_outputs[1], p_lanes, p_from_priority, p_from_order, p_limit, p_to_priority
    );
    if v_answer is not null then return v_answer; end if;
  end if;
  if cardinality(p_ids) > 0 then
    v_accepted := millrace.finish(p_holder, p_ids, p_epochs, p_outputs, p_unchanged);
    if cardinality(v_accepted) > 0 then v_readied := millrace.settle(v_accepted, 'succeeded'); end if;
  end if;
  return millrace.lease(
    p_holder, v_accepted, v_readied, case when cardinality(v_accepted) < cardinality(p_ids) then to_json(v_accepted::text[]) end,
    p_lanes, p_from_priority, p_from_order, p_limit, p_to_priority, p_slice_lanes, p_slice_priority, p_slice_from, p_slice_to,
    p_is_fair
  );
end $$;

-- What `step` does once p_succeeded are recorded and p_readied released by them: tells the outbox of them, applies what is
-- pending, and leases.
create function millrace.lease(
  p_holder int, p_succeeded bigint[], p_readied bigint[], p_accepted json,
  p_lanes int[], p_from_priority int[], p_from_order bigint[], p_limit int, p_to_priority int[] default null,
  p_slice_lanes int[] default null, p_slice_priority int[] default null, p_slice_from bigint default null, p_slice_to bigint[] default null,
  p_is_fair boolean default false
)
returns json
language plpgsql as $$
declare
  v_succeeded   bigint[] := nullif(p_succeeded, '{}');
  v_readied     bigint[] := p_readied;
  v_claimable   int := coalesce(cardinality(p_readied), 0);
  v_leased      bigint[];
  v_claimed     int := 0;
  v_is_alive    boolean;
  v_has_effects boolean;
  v_due         timestamptz;
  v_tasks       json;
begin
  select
    -- A dispatcher whose lease ran out may not know it yet.
    coalesce((select d.dead_at is null from millrace.dispatcher d where d.id = p_holder), false),
    exists (select 1 from millrace.effect),
    (select l.not_before from millrace.live l where l.state = 'delayed' order by l.not_before limit 1)
  into v_is_alive, v_has_effects, v_due;
  if v_succeeded is not null and (v_has_effects or v_due <= clock_timestamp()) then
    -- Before anything else happens to these tasks.
    insert into millrace.outbox (succeeded, readied, holder) values (v_succeeded, v_readied, p_holder);
    v_succeeded := null;
    v_readied := null;
  end if;
  if v_due <= clock_timestamp() then
    v_claimable := v_claimable + millrace.move_due();
    v_has_effects := true;
  end if;
  if v_has_effects then
    v_claimable := v_claimable + millrace.pump();
    v_has_effects := exists (select 1 from millrace.effect);
  end if;
  if p_limit > 0 and v_is_alive then
    if p_is_fair then
      select c.tasks, c.leased into v_tasks, v_leased from millrace.claim_fairly(p_holder, p_lanes, p_limit) c;
    elsif cardinality(p_lanes) = 1 and p_to_priority is null then
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
          -- Who died since the look above must not take what was just taken from it: a snapshot with the one has the other.
          and (select e.dead_at is null from millrace.dispatcher e where e.id = p_holder)
        returning l.id, l.epoch, l.lane, l.priority, l.ready_order, l.failures, l.deaths
      )
      select json_build_array(
          string_agg(s.id::text, ','), json_agg(s.epoch), json_agg(s.lane), json_agg(s.priority), string_agg(s.ready_order::text, ','),
          json_agg(s.failures), json_agg(s.deaths), json_agg(s.scope), json_agg(s.key), json_agg(s.creator::text), json_agg(s.payload)
        ), array_agg(s.id)
      into v_tasks, v_leased
      from (
        select u.*, t.*
        from leased u
          -- One look for each, whatever the planner knows of the table.
          cross join lateral (
            select a.scope, a.key, a.creator, a.payload from millrace.task a where a.id = u.id offset 0
          ) t
        order by u.priority, u.ready_order
      ) s;
    else
      with next as materialized (
        select found.tid
        from (
          select r.tid, r.priority, r.ready_order
          from unnest(p_lanes, p_from_priority, p_from_order, p_to_priority) m(lane, from_priority, from_order, to_priority)
            cross join lateral (
              select l.ctid as tid, l.priority, l.ready_order
              from millrace.live l
              where l.state = 'ready' and l.gate is null and l.lane = m.lane
                and (l.priority, l.ready_order) > (m.from_priority, m.from_order)
                and l.priority <= coalesce(m.to_priority, 2147483647)
              order by l.priority, l.ready_order
              limit p_limit
              for no key update skip locked
            ) r
          union all
          select r.tid, r.priority, r.ready_order
          from unnest(p_slice_lanes, p_slice_priority, p_slice_to) s(lane, priority, up_to)
            cross join lateral (
              select l.ctid as tid, l.priority, l.ready_order
              from millrace.live l
              where l.state = 'ready' and l.gate is null and l.lane = s.lane
                -- Not compared as a row: a scan would not end where such a comparison does.
                and l.priority = s.priority and l.ready_order > p_slice_from and l.ready_order <= s.up_to
              order by l.ready_order
              limit p_limit
              for no key update skip locked
            ) r
        ) found
        order by found.priority, found.ready_order
        limit p_limit
      ),
      leased as (
        update millrace.live l
        set state = 'running', holder = p_holder, epoch = l.epoch + 1, started_at = clock_timestamp()
        where l.ctid = any(array(select n.tid from next n))
          and (select e.dead_at is null from millrace.dispatcher e where e.id = p_holder) -- as above
        returning l.id, l.epoch, l.lane, l.priority, l.ready_order, l.failures, l.deaths
      )
      select json_build_array(
          string_agg(s.id::text, ','), json_agg(s.epoch), json_agg(s.lane), json_agg(s.priority), string_agg(s.ready_order::text, ','),
          json_agg(s.failures), json_agg(s.deaths), json_agg(s.scope), json_agg(s.key), json_agg(s.creator::text), json_agg(s.payload)
        ), array_agg(s.id)
      into v_tasks, v_leased
      from (
        select u.*, t.*
        from leased u
          -- One look for each, whatever the planner knows of the table.
          cross join lateral (
            select a.scope, a.key, a.creator, a.payload from millrace.task a where a.id = u.id offset 0
          ) t
        order by u.priority, u.ready_order
      ) s;
    end if;
  end if;
  if v_succeeded is not null or v_leased is not null then
    insert into millrace.outbox (succeeded, readied, claimed, holder) values (v_succeeded, v_readied, v_leased, p_holder);
  end if;
  v_claimed := coalesce(cardinality(v_leased), 0);
  -- The caller took what it can. Others are woken only for what it had no room for, or does not know.
  if v_claimable > 0 and exists (
    select 1 from millrace.idle i where v_claimed = p_limit or not (i.lanes <@ p_lanes)
  ) then
    perform pg_notify('millrace', '');
  end if;
  return json_build_object(
    'accepted', p_accepted,
    'is_alive', v_is_alive,
    'has_effects', v_has_effects,
    'due_seconds', extract(epoch from v_due - clock_timestamp()),
    'tasks', case when v_claimed > 0 then v_tasks end
  );
end $$;

-- Moves delayed tasks whose time has come. Answers how many can be claimed.
create function millrace.move_due() returns int
language plpgsql as $$
declare
  v_ids bigint[];
begin
  v_ids := array(
    select l.id
    from millrace.live l
    where l.state = 'delayed' and l.not_before <= clock_timestamp()
    order by l.not_before
    limit 1000
    for update skip locked
  );
  if cardinality(v_ids) = 0 then return 0; end if;
  return millrace.make_ready(v_ids);
end $$;
