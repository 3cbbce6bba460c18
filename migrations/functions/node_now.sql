-- Nodes with the state that follows from their tasks. A node whose task waits between two performances of the same work
-- runs: a condition between two looks, or work that its worker lost and that nobody has taken up yet.
drop view if exists millrace.node_now;
create view millrace.node_now as
  select n.id, n.parent, n.task, n.version, n.type, n.run_if, n.branch, n.created_at, n.begun_epoch,
    case
      when d.state = 'succeeded' then 'finished'
      when d.state = 'failed' then 'failed'
      when d.state = 'canceled' then 'killed'
      when d.state = 'skipped' then 'skipped'
      when l.state = 'running' and l.cancel_cause is not null then 'killing'
      when l.state = 'running' or between_performances.is_so then 'running'
      else 'incipient'
    end as state,
    case
      when d.state is not null or between_performances.is_so then n.begun_at
      when l.state = 'running' then coalesce(n.begun_at, l.started_at)
    end as started_at,
    d.finished_at,
    coalesce(d.state = 'canceled' and d.prior is null or l.cancel_cause is not null, false) as was_stopped,
    d.output, d.error, d.cause, d.actor
  from millrace.node n
    left join millrace.live l on l.id = n.task
    left join millrace.done d on d.id = n.task
    cross join lateral (
      select n.begun_epoch is not null and l.state <> 'running' and exists (
        select 1
        from millrace.attempt a
        where a.task = n.task and a.epoch = n.begun_epoch and a.outcome in ('later', 'handed_back', 'lease_lost')
      ) as is_so
    ) between_performances
  where l.id is not null or d.id is not null;
