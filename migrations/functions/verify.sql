-- Looks for tasks that break a promise of the engine; answers nothing when all is well. Reads everything unfinished, so
-- it is for tests and for `doctor`, not for a loop. What waits in `effect` counts as applied.
create function millrace.verify() returns table (task bigint, problem text)
language plpgsql as $$
#variable_conflict use_column
begin
  return query
  select l.id, format('counts %s unmet requirements and has %s', l.unmet, coalesce(c.n, 0) + coalesce(f.n, 0))
  from millrace.live l
    left join (
      select e.dependent, count(*)::int as n
      from millrace.edge e left join millrace.done d on d.id = e.prerequisite
      where not millrace.is_met(e.condition, d.state)
      group by e.dependent
    ) c on c.dependent = l.id
    left join (
      select x.ref, sum(x.n)::int as n from millrace.effect x where x.kind = 'unblock' group by x.ref
    ) f on f.ref = l.id
  where l.unmet <> coalesce(c.n, 0) + coalesce(f.n, 0);

  return query
  select l.id, format('is %s with %s unmet requirements, dispatcher %s, gate %s', l.state, l.unmet, l.holder, l.gate)
  from millrace.live l
  where l.state not in ('waiting', 'delayed', 'ready', 'running', 'held')
    or (l.state = 'running') <> (l.holder is not null)
    or l.unmet < 0
    or (l.unmet > 0 and l.state in ('ready', 'delayed'))
    or (l.gate is not null and l.state <> 'ready')
    or (l.state = 'delayed' and l.not_before is null)
    or (l.cancel_cause is not null and l.state <> 'running');

  return query
  select l.id, format('runs and holds %s of its gates %s', l.gates_held, l.gates)
  from millrace.live l
  where l.state = 'running' and l.gates_held <> coalesce(cardinality(l.gates), 0);

  return query
  select l.id, 'waits for nothing and is not moved on'
  from millrace.live l
  where l.state = 'waiting' and l.unmet = 0
    and not exists (select 1 from millrace.effect x where x.ref = l.id and x.kind = 'supersede');

  return query
  select l.id, format('waits for task %s, which can no longer meet it', min(e.prerequisite))
  from millrace.live l
    join millrace.edge e on e.dependent = l.id
    join millrace.done d on d.id = e.prerequisite
  where l.state = 'waiting' and not millrace.is_met(e.condition, d.state)
    and not exists (select 1 from millrace.effect x where x.ref = l.id and x.kind in ('skip', 'supersede'))
  group by l.id;

  return query
  select l.id, 'is a milestone that is ready and not completed'
  from millrace.live l
  where l.state = 'ready' and l.lane is null and l.gate is null
    and not exists (select 1 from millrace.effect x where x.ref = l.id and x.kind = 'complete');

  return query
  select coalesce(l.id, d.id), 'is both unfinished and finished' from millrace.live l join millrace.done d on d.id = l.id;

  return query
  select d.id, format('is over, and %s', d.state) from millrace.done d where d.state not in ('succeeded', 'failed', 'canceled', 'skipped');

  return query
  select t.id, 'is neither unfinished nor finished'
  from millrace.task t
  where not exists (select 1 from millrace.live l where l.id = t.id) and not exists (select 1 from millrace.done d where d.id = t.id);

  return query
  select l.id, 'runs on a dispatcher that is dead and swept'
  from millrace.live l join millrace.dispatcher d on d.id = l.holder
  where d.swept_at is not null;

  return query
  select null::bigint, format('gate %s counts %s places in use and %s are held', g.name, g.used, coalesce(h.n, 0) + coalesce(f.n, 0))
  from millrace.gate g
    left join (
      select held.gate, count(*)::int as n
      from millrace.live l cross join lateral unnest(l.gates[1 : l.gates_held]) held(gate)
      group by held.gate
    ) h on h.gate = g.id
    left join (select x.ref, sum(x.n)::int as n from millrace.effect x where x.kind = 'gate' group by x.ref) f on f.ref = g.id
  where g.used <> coalesce(h.n, 0) + coalesce(f.n, 0);

  return query
  select null::bigint, format('gate %s lets in %s and %s are in: that passes when a limit was lowered just now', g.name, g.capacity, g.used)
  from millrace.gate g
  where g.used > g.capacity;

  return query
  select l.id, 'queues at a gate that has room'
  from millrace.live l join millrace.gate g on g.id = l.gate
  where g.used < g.capacity and not exists (select 1 from millrace.effect x where x.kind = 'gate' and x.ref = g.id);

  return query
  select d.id, format('was skipped because of task %s, which no longer stands in the way', d.culprit)
  from millrace.done d
  where d.state = 'skipped' and d.culprit is not null
    and not exists (
      select 1
      from millrace.edge e join millrace.done p on p.id = e.prerequisite
      where e.dependent = d.id and e.prerequisite = d.culprit and not millrace.is_met(e.condition, p.state)
    )
    and not exists (select 1 from millrace.effect x where x.ref = d.id);
end $$;
