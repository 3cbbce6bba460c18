-- Moves waiting tasks whose requirements are all met to what comes next: delayed until their time, ready, or, where a
-- gate, a task to supersede or the lack of a kind asks for more, onto the list of effects. The caller holds the rows'
-- locks. p_is_told: their delays have been told already. Answers how many can be claimed.
create function millrace.make_ready(p_ids bigint[], p_is_told boolean default false) returns int
language plpgsql as $$
declare
  v_claimable int;
begin
  with step as materialized (
    select l.id, case when p_is_told and l.not_before is not null then 'delayed' else l.state end as prior,
      case
        when l.not_before > clock_timestamp() then 'delayed'
        when l.supersedes and (select x from millrace.targets_of(l.id) x limit 1) is not null then 'waiting'
        else 'ready'
      end::millrace.state as next
    from millrace.live l
    where l.id = any(p_ids)
  ),
  moved as (
    update millrace.live l
    set state       = step.next,
        -- What was lost enters its gates before those that came later: its dispatcher may come back to it.
        ready_order = case when step.next = 'ready' then
            case when l.lost_by is not null and l.gates is not null then coalesce(l.ready_order, nextval('millrace.ready_order')) else nextval('millrace.ready_order') end
          end,
        ready_at    = case when step.next = 'ready' then clock_timestamp() end,
        not_before  = case when step.next = 'delayed' then l.not_before end,
        gate        = case when step.next = 'ready' then l.gates[1] end
    from step
    where l.id = step.id
    returning l.id, l.state, l.lane, l.gate, step.prior,
      case when l.state = 'delayed' then jsonb_build_object('not_before', l.not_before) end as detail
  ),
  kept as (
    insert into millrace.event (task, name, prior, next, cause, detail)
    select m.id, case m.state when 'delayed' then 'delayed' else 'blocked' end, m.prior, m.state,
      case m.state when 'waiting' then 'it has tasks to supersede' end, m.detail
    from moved m
    where m.state <> 'ready' and m.state <> m.prior
  ),
  told as (
    insert into millrace.outbox (name, next, tasks, priors, details, cause)
    select case m.state when 'ready' then 'readied' when 'delayed' then 'delayed' else 'blocked' end, m.state,
      array_agg(m.id), array_agg(m.prior), case when m.state = 'delayed' then array_agg(m.detail) end,
      case m.state when 'waiting' then 'it has tasks to supersede' end
    from moved m
    where m.state <> m.prior
    group by m.state
  ),
  superseding as (
    insert into millrace.effect (kind, ref) select 'supersede', m.id from moved m where m.state = 'waiting'
  ),
  completing as (
    insert into millrace.effect (kind, ref)
    select 'complete', m.id from moved m where m.state = 'ready' and m.lane is null and m.gate is null
  ),
  queueing as (
    insert into millrace.effect (kind, ref) select distinct 'gate'::millrace.effect_kind, m.gate::bigint from moved m where m.gate is not null
  )
  select count(*) filter (where m.state = 'ready' and m.lane is not null and m.gate is null) into v_claimable from moved m;
  return v_claimable;
end $$;
