-- Moves waiting tasks whose requirements are all met to what comes next: delayed until their time, ready, or, where a
-- gate, a task to supersede or the lack of a kind asks for more, onto the list of effects. The caller holds the rows'
-- locks. p_is_told: the history has been told of a delay already. Answers how many can be claimed.
create function millrace.make_ready(p_ids bigint[], p_is_told boolean default false) returns int
language plpgsql as $$
declare
  v_claimable int;
begin
  with step as materialized (
    select l.id,
      case
        when l.not_before > clock_timestamp() then 'delayed'
        when l.supersedes and (
          select t.id
          from millrace.supersede s join millrace.live t on t.id = s.target
          where s.task = l.id
          limit 1
        ) is not null then 'waiting'
        else 'ready'
      end::millrace.state as next
    from millrace.live l
    where l.id = any(p_ids)
  ),
  moved as (
    update millrace.live l
    set state       = step.next,
        ready_order = case when step.next = 'ready' then nextval('millrace.ready_order') end,
        ready_at    = case when step.next = 'ready' then clock_timestamp() end,
        not_before  = case when step.next = 'delayed' then l.not_before end,
        gate        = case when step.next = 'ready' then l.gates[1] end
    from step
    where l.id = step.id
    returning l.id, l.state, l.lane, l.gate, l.not_before
  ),
  told as (
    insert into millrace.event (task, name, prior, next, detail)
    select m.id, 'delayed', 'waiting', 'delayed', jsonb_build_object('not_before', m.not_before)
    from moved m where m.state = 'delayed' and not p_is_told
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
