-- Takes p_counts[i] met requirements off p_dependents[i] and makes ready what has none left. Never waits: a dependent
-- that someone else has locked gets an effect instead, which the next claim applies. Answers how many can be claimed.
create function millrace.unblock(p_dependents bigint[], p_counts int[]) returns int
language plpgsql as $$
declare
  v_locked    bigint[];
  v_special   bigint[];
  v_claimable int;
begin
  with mine as materialized (
    select l.id, x.n, l.unmet = x.n and l.state = 'waiting' as is_free,
      l.lane is not null and l.not_before is null and l.gates is null and not l.supersedes as is_plain
    from unnest(p_dependents, p_counts) x(id, n) join millrace.live l on l.id = x.id
    for no key update of l skip locked
  ),
  counted as (
    update millrace.live l
    set unmet       = l.unmet - mine.n,
        state       = case when mine.is_free and mine.is_plain then 'ready' else l.state end,
        ready_order = case when mine.is_free and mine.is_plain then nextval('millrace.ready_order') else l.ready_order end,
        ready_at    = case when mine.is_free and mine.is_plain then clock_timestamp() else l.ready_at end
    from mine
    where l.id = mine.id
    returning l.id, mine.is_free, mine.is_plain
  )
  select array_agg(c.id), count(*) filter (where c.is_free and c.is_plain), array_agg(c.id) filter (where c.is_free and not c.is_plain)
  into v_locked, v_claimable, v_special
  from counted c;
  if cardinality(v_locked) is distinct from cardinality(p_dependents) then
    insert into millrace.effect (kind, ref, n, stalled)
    select 'unblock', x.id, x.n, pg_current_xact_id()
    from unnest(p_dependents, p_counts) x(id, n)
    where not (x.id = any(coalesce(v_locked, '{}')))
      and (select l.id from millrace.live l where l.id = x.id) is not null;
  end if;
  if v_special is not null then
    v_claimable := v_claimable + millrace.make_ready(v_special);
  end if;
  return v_claimable;
end $$;
