-- Reads the events after number p_after (null: from the oldest on), of at most p_scan events at most p_limit. With p_tasks,
-- p_scopes or p_prefixes only those of any of these tasks, scopes, or scopes that begin so; with p_names only those.
-- Answers them as arrays in one JSON value, with the oldest number that is kept, the newest, and the number up to which
-- was read. When events after p_after are not kept any more, or it was never given, is_gone is all that is said. What is
-- told of a task that was pruned went with it.
--
-- Stable, hence one snapshot for all of it: what is pruned meanwhile is seen as a whole or not at all.
create function millrace.read_outbox(
  p_after bigint, p_scan int, p_limit int, p_tasks bigint[], p_scopes text[], p_prefixes text[], p_names text[]
) returns json
language plpgsql stable as $$
declare
  v_oldest bigint;
  v_newest bigint;
  v_after  bigint := p_after;
  v_first  bigint;
  v_last   bigint;
  v_to     bigint;
  v_count  bigint;
  v_events json;
begin
  v_newest := coalesce((select p.last from millrace.outbox_page p order by p.first desc limit 1), 0);
  if v_after is null then
    v_oldest := coalesce((select p.first from millrace.outbox_page p order by p.first limit 1), 1);
    v_after := v_oldest - 1;
  end if;
  -- The page on which the next event stands. The oldest page is looked for only when there is none: pages that were pruned
  -- may lie before it, which a long snapshot of somebody's keeps from being removed.
  select p.first, p.last into v_first, v_last from millrace.outbox_page p where p.first <= v_after + 1 order by p.first desc limit 1;
  if v_after <> v_newest and (v_last is null or v_last <= v_after) then
    v_oldest := coalesce((select p.first from millrace.outbox_page p order by p.first limit 1), 1);
    return json_build_object('is_gone', true, 'oldest', v_oldest::text, 'newest', v_newest::text);
  end if;
  v_to := least(v_newest, v_after + p_scan);
  select count(*), max(found.number), json_agg(json_build_array(
      found.number::text, extract(epoch from found.at) * 1000, found.name, found.task::text, found.scope, found.key,
      found.kind, found.queue, found.prior, found.next, found.cause, found.culprit::text, found.actor, found.holder, found.detail
    ) order by found.number)
  into v_count, v_last, v_events
  from (
    select told.number, told.at, told.name, told.task, coalesce(told.scope, t.scope) as scope, t.key, l.kind, l.queue,
      told.prior, told.next, told.cause,
      case when told.name = 'created' then t.creator else told.culprit end as culprit,
      case when told.name = 'created' then t.actor else told.actor end as actor,
      told.holder, told.detail
    from (
      select part.first_number + e.number as number, o.at, e.name, e.task, o.scope, e.prior, e.next, o.cause, e.culprit, o.actor,
        case when e.has_holder then o.holder end as holder, e.detail
      from (
        select x.xid, x.id, x.number as first_number
        from millrace.outbox_page p
          cross join lateral unnest(p.xids, p.ids, p.numbers, p.numbers[2 :] || (p.last + 1)) x(xid, id, number, next_number)
        where p.first >= v_first
          and p.first <= v_to
          and x.next_number > v_after + 1
          and x.number <= v_to
      ) part
        join millrace.outbox o on o.xid = part.xid and o.id = part.id
        cross join lateral (
          select e.n - 1 as number, 'created' as name, e.task, null::millrace.state as prior, 'waiting'::millrace.state as next,
            null::bigint as culprit, false as has_holder, null::jsonb as detail
          from unnest(o.created) with ordinality e(task, n)
          union all
          select coalesce(cardinality(o.created), 0) + e.n - 1, 'succeeded', e.task, 'running', 'succeeded', null, true, null
          from unnest(o.succeeded) with ordinality e(task, n)
          union all
          select coalesce(cardinality(o.created), 0) + coalesce(cardinality(o.succeeded), 0) + e.n - 1,
            'readied', e.task, 'waiting', 'ready', null, false, null
          from unnest(o.readied) with ordinality e(task, n)
          union all
          select coalesce(cardinality(o.created), 0) + coalesce(cardinality(o.succeeded), 0) + coalesce(cardinality(o.readied), 0) + e.n - 1,
            'claimed', e.task, 'ready', 'running', null, true, null
          from unnest(o.claimed) with ordinality e(task, n)
          union all
          select e.n - 1, o.name, e.task, e.prior, o.next, e.culprit, true, e.detail
          from unnest(coalesce(o.tasks, '{null}'), o.priors, o.culprits, o.details) with ordinality e(task, prior, culprit, detail, n)
          where o.name is not null
        ) e
    ) told
      left join millrace.task t on t.id = told.task
      left join millrace.lane l on l.id = t.lane
    where told.number > v_after and told.number <= v_to
      and (t.id is not null or told.scope is not null)
      and (p_names is null or told.name = any(p_names))
      and (
        num_nulls(p_tasks, p_scopes, p_prefixes) = 3
        or told.task = any(p_tasks)
        or coalesce(told.scope, t.scope) = any(p_scopes)
        or exists (select 1 from unnest(p_prefixes) f(prefix) where starts_with(coalesce(told.scope, t.scope), f.prefix))
      )
    order by told.number
    limit p_limit
  ) found;
  return json_build_object(
    'is_gone', false, 'oldest', v_oldest::text, 'newest', v_newest::text,
    'next', (case when v_count = p_limit then v_last else v_to end)::text,
    'events', v_events
  );
end $$;
