-- What became of attempts: still leased, asked to stop, recorded, or `is_open`: lost and not claimed by others, or resumed under another
-- lease. One look for each: as a plain join this would be planned as a walk over all that ran since the last vacuum.
create function millrace.lease_facts(p_holders int[], p_ids bigint[], p_epochs int[])
returns table (id bigint, is_held boolean, is_canceling boolean, is_recorded boolean, is_open boolean)
language plpgsql stable as $$
begin
  return query
  select asked.id,
    l.id is not null,
    l.cancel_cause is not null,
    exists (
      select 1 from millrace.done d
      where d.id = asked.id and d.holder = asked.holder and d.epoch = asked.epoch
    ) or exists (
      select 1 from millrace.attempt a
      where a.task = asked.id and a.holder = asked.holder and a.epoch = asked.epoch
        and a.outcome not in ('lease_lost', 'handed_back')
    ),
    exists (
      select 1 from millrace.live r
      where r.id = asked.id and r.epoch = asked.epoch
        and case when r.state = 'running' then r.holder <> asked.holder else r.lost_by is not null end
    )
  from unnest(p_holders, p_ids, p_epochs) asked(holder, id, epoch)
    left join lateral (
      select r.id, r.cancel_cause from millrace.live r
      where r.id = asked.id and r.holder = asked.holder and r.epoch = asked.epoch and r.state = 'running'
      offset 0
    ) l on true;
end $$;
