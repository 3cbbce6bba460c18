-- Takes p_counts[i] met requirements off p_dependents[i] and makes ready what has none left. Never waits: a dependent
-- that someone else has locked gets an effect instead, which the next claim applies. Answers those that can be claimed:
-- the caller must tell the outbox that they were readied, before anything else happens to them.
create function millrace.unblock(p_dependents bigint[], p_counts int[]) returns bigint[]
language plpgsql as $$
declare
  v_counted bigint[];
  v_special bigint[];
  v_readied bigint[];
begin
  -- What is set depends on `l` alone, not on what was read when it was locked: the row may have changed in between, and
  -- its newest version is what was locked.
  --
  -- Locked against whoever would add a dependent, before it is changed, since the same transaction may yet end it; where
  -- such a lock is already there, beside it. docs/decisions/0049-locks-that-rollbacks-lose.md says what happens otherwise.
  with mine as materialized (
    select x.n, coalesce(
      -- One look for each, whatever the planner knows of the table.
      (select r.ctid from millrace.live r where r.id = x.id for update skip locked),
      (select r.ctid from millrace.live r where r.id = x.id for no key update skip locked)
    ) as tid
    from unnest(p_dependents, p_counts) x(id, n)
  ),
  counted as (
    update millrace.live l
    set unmet       = l.unmet - mine.n,
        state       = case when l.unmet = mine.n and l.state = 'waiting' and l.lane is not null and l.not_before is null
            and l.gates is null and not l.supersedes then 'ready' else l.state end,
        ready_order = case when l.unmet = mine.n and l.state = 'waiting' and l.lane is not null and l.not_before is null
            and l.gates is null and not l.supersedes then nextval('millrace.ready_order') else l.ready_order end,
        ready_at    = case when l.unmet = mine.n and l.state = 'waiting' and l.lane is not null and l.not_before is null
            and l.gates is null and not l.supersedes then clock_timestamp() else l.ready_at end
    from mine
    where l.ctid = mine.tid
    returning l.id, l.state, l.unmet
  )
  select array_agg(c.id), array_agg(c.id) filter (where c.state = 'ready'), array_agg(c.id) filter (where c.state = 'waiting' and c.unmet = 0)
  into v_counted, v_readied, v_special
  from counted c;
  if cardinality(v_counted) is distinct from cardinality(p_dependents) then
    insert into millrace.effect (kind, ref, n, stalled)
    select 'unblock', x.id, x.n, pg_current_xact_id()
    from unnest(p_dependents, p_counts) x(id, n)
    where x.id in (select y from unnest(p_dependents) y except select y from unnest(v_counted) y)
      and (select l.id from millrace.live l where l.id = x.id) is not null;
  end if;
  if v_special is not null and millrace.make_ready(v_special) > 0 then perform millrace.wake(); end if;
  return v_readied;
end $$;
