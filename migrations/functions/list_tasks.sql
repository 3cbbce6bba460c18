-- Picks the newest p_limit tasks with ids below p_before that meet everything that is given. Looks for about p_budget_ms:
-- whatever was found by then is answered, and `next` says below which id to go on; null: there are no more.
--
-- Candidates come newest first, in batches that grow: by the states asked for where that is shorter, else from all tasks.
-- That finds what is frequent. When it finds too few, what is rare by its scope, lane or creator
-- is searched for in ranges of ids that grow as long as they turn out to be quick.
create function millrace.list_tasks(
  p_states text[], p_scopes text[], p_patterns text[], p_prefix text, p_prefix_end text, p_lanes int[], p_creator bigint,
  p_ids bigint[], p_keys text[], p_words text[], p_before bigint, p_limit int, p_budget_ms float8,
  out ids bigint[], out next bigint
)
language plpgsql stable as $$
declare
  v_until    timestamptz := clock_timestamp() + make_interval(secs => p_budget_ms / 1000);
  v_size     int := greatest(100, p_limit * 2);
  v_batch    bigint[];
  v_is_few   boolean;
  v_looked   int := 0;
  v_oldest   bigint;
  v_range    bigint := 16000;
  v_range_at timestamptz;
begin
  ids := '{}';
  next := p_before;
  if p_ids is not null then
    ids := millrace.filter_tasks(p_ids, p_before, p_limit, p_states, p_scopes, p_patterns, p_lanes, p_creator, p_keys, p_words);
    next := case when cardinality(ids) = p_limit then ids[p_limit] end;
    return;
  end if;

  loop
    v_batch := millrace.newest_in(p_states, next, v_size);
    v_is_few := v_batch is not null;
    if not v_is_few then
      v_batch := array(select t.id from millrace.task t where t.id < next order by t.id desc limit v_size);
    end if;
    ids := ids || millrace.filter_tasks(
      v_batch, next, p_limit - cardinality(ids), p_states, p_scopes, p_patterns, p_lanes, p_creator, p_keys, p_words
    );
    if cardinality(ids) = p_limit then
      next := ids[p_limit];
      return;
    end if;
    next := v_batch[v_size];
    if next is null or clock_timestamp() > v_until then return; end if;
    v_looked := v_looked + v_size;
    exit when num_nulls(p_scopes, p_prefix_end, p_lanes, p_creator) < 4 and v_looked > case when v_is_few then 6000 else 1000 end;
    v_size := least(v_size * 2, 2000);
  end loop;

  v_oldest := (select t.id from millrace.task t order by t.id limit 1);
  loop
    v_range_at := clock_timestamp();
    v_batch := millrace.search_tasks(next - v_range, next, p_scopes, p_prefix, p_prefix_end, p_lanes, p_creator);
    ids := ids || millrace.filter_tasks(
      v_batch, next, p_limit - cardinality(ids), p_states, p_scopes, p_patterns, p_lanes, p_creator, p_keys, p_words
    );
    if cardinality(ids) = p_limit then
      next := ids[p_limit];
      return;
    end if;
    next := next - v_range;
    if next <= v_oldest then
      next := null;
      return;
    end if;
    -- The next range may take as long as this one, or four times as long when it is wider.
    if clock_timestamp() + (clock_timestamp() - v_range_at) > v_until then return; end if;
    if clock_timestamp() + (clock_timestamp() - v_range_at) * 8 < v_until then v_range := v_range * 4; end if;
  end loop;
end $$;

-- Of the given tasks below p_before the newest p_limit that meet everything else that is given. Patterns, keys and words
-- are for LIKE: one of the patterns must fit the scope, one of the keys the key, and all of the words.
create function millrace.filter_tasks(
  p_ids bigint[], p_before bigint, p_limit int, p_states text[], p_scopes text[], p_patterns text[], p_lanes int[],
  p_creator bigint, p_keys text[], p_words text[]
) returns bigint[]
language plpgsql stable as $$
begin
  return array(
    select t.id
    from unnest(p_ids) x(id)
      join millrace.task t on t.id = x.id
      left join millrace.lane m on m.id = t.lane
    where t.id < p_before
      and (p_scopes is null or t.scope = any(p_scopes))
      and (p_patterns is null or t.scope like any(p_patterns))
      and (p_lanes is null or t.lane = any(p_lanes))
      and (p_creator is null or t.creator = p_creator)
      and (p_keys is null or t.key like any(p_keys))
      and (p_words is null or lower(concat_ws(' ', t.scope, t.key, coalesce(m.kind, 'milestone'), t.id)) like all(p_words))
      and (
        p_states is null
        or coalesce(
          (select l.state from millrace.live l where l.id = t.id), (select d.state from millrace.done d where d.id = t.id)
        )::text = any(p_states)
      )
    order by t.id desc
    limit p_limit
  );
end $$;

-- The newest p_count tasks below p_before that may be in one of these states; null: no way is shorter than through all.
create function millrace.newest_in(p_states text[], p_before bigint, p_count int) returns bigint[]
language plpgsql stable as $$
declare
  v_all bigint[];
begin
  if p_states is null then return null; end if;
  if p_states <@ '{succeeded,failed,canceled,skipped}' and 'succeeded' = any(p_states) then
    return array(select d.id from millrace.done d where d.id < p_before order by d.id desc limit p_count);
  end if;
  v_all := millrace.few_in(p_states);
  if v_all is null then
    if not (p_states <@ '{waiting,delayed,ready,running,held}') then return null; end if;
    return array(select l.id from millrace.live l where l.id < p_before order by l.id desc limit p_count);
  end if;
  if 'running' = any(p_states) then
    -- No more than there are places to run; materialized, or the planner might walk through all by their ids instead.
    v_all := v_all || array(
      with running as materialized (select l.id from millrace.live l where l.state = 'running')
      select r.id from running r where r.id < p_before order by r.id desc limit p_count
    );
  end if;
  -- These have an index each, in the order of ids.
  if 'held' = any(p_states) then
    v_all := v_all || array(
      select l.id from millrace.live l where l.state = 'held' and l.id < p_before order by l.id desc limit p_count
    );
  end if;
  v_all := v_all || array(
    select d.id
    from unnest(p_states) s(state)
      cross join lateral (
        select d.id
        from millrace.done d
        where d.state <> 'succeeded' and d.state = s.state::millrace.state and d.id < p_before
        order by d.id desc
        limit p_count
      ) d
    where s.state in ('failed', 'canceled', 'skipped')
  );
  return array(select distinct x from unnest(v_all) x where x < p_before order by x desc limit p_count);
end $$;

-- All tasks in those of these states that have no index in the order of ids; null when they are many.
create function millrace.few_in(p_states text[]) returns bigint[]
language plpgsql stable as $$
declare
  v_few constant int := 3000;
  v_all bigint[] := '{}';
begin
  if 'succeeded' = any(p_states) then return null; end if;
  if 'ready' = any(p_states) then
    v_all := array(select l.id from millrace.live l where l.state = 'ready' and l.gate is null limit v_few)
      || array(select l.id from millrace.live l where l.state = 'ready' and l.gate is not null limit v_few);
  end if;
  if 'delayed' = any(p_states) then
    v_all := v_all || array(select l.id from millrace.live l where l.state = 'delayed' limit v_few);
  end if;
  if 'waiting' = any(p_states) then
    v_all := v_all || array(select l.id from millrace.live l limit v_few);
  end if;
  return case when cardinality(v_all) < v_few then v_all end;
end $$;

-- Tasks with ids from p_from up to below p_before, of these scopes, lanes or creator, by the search index alone.
create function millrace.search_tasks(
  p_from bigint, p_before bigint, p_scopes text[], p_prefix text, p_prefix_end text, p_lanes int[], p_creator bigint
) returns bigint[]
language plpgsql stable
set enable_bitmapscan = on set enable_seqscan = off set enable_indexscan = off set enable_indexonlyscan = off
set jit = off set max_parallel_workers_per_gather = 0 set plan_cache_mode = force_generic_plan as $$
begin
  -- One of the conditions is enough to know where to look; the caller looks at the others.
  if p_scopes is not null then
    return array(select t.id from millrace.task t where t.id + 0 >= p_from and t.id + 0 < p_before and t.scope = any(p_scopes));
  elsif p_creator is not null then
    return array(select t.id from millrace.task t where t.id + 0 >= p_from and t.id + 0 < p_before and t.creator = p_creator);
  elsif p_lanes is not null then
    return array(select t.id from millrace.task t where t.id + 0 >= p_from and t.id + 0 < p_before and t.lane = any(p_lanes));
  end if;
  return array(
    select t.id
    from millrace.task t
    where t.id + 0 >= p_from and t.id + 0 < p_before
      and t.scope collate "C" >= p_prefix and t.scope collate "C" < p_prefix_end
  );
end $$;
