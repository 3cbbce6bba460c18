-- Ends unfinished tasks whose rows the caller has locked FOR UPDATE, other than by their worker's success: moves them to
-- `done`, gives back their gates and passes the end on. Answers how many other tasks can be claimed.
create function millrace.conclude(
  p_ids bigint[], p_state millrace.state, p_cause text, p_culprits bigint[], p_actor text, p_error jsonb default null
) returns int
language plpgsql as $$
declare
  v_ids     bigint[];
  v_reruns  bigint[];
  v_readied bigint[];
begin
  with gone as (
    delete from millrace.live l
    using unnest(p_ids, p_culprits) x(id, culprit)
    where l.id = x.id
    returning l.*, x.culprit
  ),
  kept as (
    insert into millrace.done (
      id, ready_at, started_at, holder, epoch, state, prior, failures, deaths, is_rerun, cause, culprit, actor, error
    )
    select g.id, g.ready_at, g.started_at, g.holder, g.epoch, p_state, case when g.state <> 'running' then g.state end,
      g.failures, g.deaths, g.is_rerun and p_state <> 'succeeded', coalesce(p_cause, nullif(g.cancel_cause, '')), coalesce(g.culprit, g.cancel_by),
      coalesce(p_actor, g.cancel_actor), p_error
    from gone g
  ),
  freed as (
    insert into millrace.effect (kind, ref, n)
    select 'gate', held.gate, count(*)
    from gone g cross join lateral unnest(g.gates[1 : g.gates_held]) held(gate)
    group by held.gate
  ),
  told as (
    insert into millrace.outbox (name, next, tasks, priors, culprits, details, cause, actor, holder)
    select p_state, p_state, array_agg(g.id), array_agg(g.state), array_agg(coalesce(g.culprit, g.cancel_by)),
      case when p_error is not null then array_agg(p_error - 'stack') end,
      coalesce(p_cause, nullif(g.cancel_cause, '')), coalesce(p_actor, g.cancel_actor), g.holder
    from gone g
    group by coalesce(p_cause, nullif(g.cancel_cause, '')), coalesce(p_actor, g.cancel_actor), g.holder
  )
  select array_agg(g.id), array_agg(g.id) filter (where g.is_rerun and p_state = 'succeeded')
  into v_ids, v_reruns
  from gone g;
  if v_ids is null then return 0; end if;
  if v_reruns is not null then perform millrace.spread_rerun(v_reruns); end if;
  v_readied := millrace.settle(v_ids, p_state);
  if v_readied is null then return 0; end if;
  insert into millrace.outbox (readied) values (v_readied);
  return cardinality(v_readied);
end $$;
