-- The dispatcher's round trip: record successes, apply what is pending, claim again; one commit. The last row answers
-- which successes were taken and when to look again; the rows before it are the tasks claimed. p_idle says that the
-- dispatcher has room and found nothing (true), or has more than it can take (false); null leaves that as it was.
create function millrace.step(
  p_holder int, p_ids bigint[], p_epochs int[], p_outputs jsonb[], p_unchanged bigint[],
  p_lanes int[], p_from_priority int[], p_from_order bigint[], p_limit int, p_idle boolean default null
)
returns table (
  id bigint, epoch int, lane int, priority int, ready_order bigint, failures smallint, deaths smallint,
  scope text, key text, creator bigint, payload jsonb,
  accepted bigint[], is_alive boolean, has_effects boolean, due_seconds float8
)
language plpgsql as $$
#variable_conflict use_column
declare
  v_accepted  bigint[] := '{}';
  v_claimable int := 0;
  v_claimed   int := 0;
begin
  if p_idle is not null then perform millrace.set_idle(p_holder, p_lanes, p_idle); end if;
  if cardinality(p_ids) > 0 then
    select f.accepted, f.claimable into v_accepted, v_claimable
    from millrace.finish(p_holder, p_ids, p_epochs, p_outputs, p_unchanged) f;
  end if;
  v_claimable := v_claimable + millrace.move_due();
  if exists (select 1 from millrace.effect) then v_claimable := v_claimable + millrace.pump(); end if;
  if p_limit > 0 then
    return query
    select c.*, null::bigint[], null::boolean, null::boolean, null::float8
    from millrace.claim(p_holder, p_lanes, p_from_priority, p_from_order, p_limit) c;
    get diagnostics v_claimed = row_count;
  end if;
  -- The caller took what it can. Others are woken only for what it had no room for, or does not know.
  if v_claimable > 0 and exists (
    select 1 from millrace.idle i where v_claimed = p_limit or not (i.lanes <@ p_lanes)
  ) then
    perform pg_notify('millrace', '');
  end if;
  return query
  select null::bigint, null::int, null::int, null::int, null::bigint, null::smallint, null::smallint,
    null::text, null::text, null::bigint, null::jsonb,
    v_accepted,
    exists (select 1 from millrace.dispatcher d where d.id = p_holder and d.dead_at is null),
    exists (select 1 from millrace.effect),
    (
      select extract(epoch from l.not_before - clock_timestamp())::float8
      from millrace.live l where l.state = 'delayed' order by l.not_before limit 1
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
