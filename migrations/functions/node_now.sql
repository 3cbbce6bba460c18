-- How the attempt ended that last began a node's work, when it left the work unfinished: between two looks of a condition,
-- or without an outcome. Nothing when the task was asked for again since, which is another beginning.
create function millrace.unfinished_work(p_task bigint, p_begun_epoch int) returns table (outcome text)
language sql stable as $$
  select a.outcome
  from millrace.attempt a
  where a.task = p_task and a.epoch = p_begun_epoch and a.outcome in ('later', 'handed_back', 'lease_lost')
    and not exists (
      select 1
      from millrace.event e
      where e.task = a.task and e.at > a.ended_at and e.name in ('retried', 'rerun', 'revived', 'reopened')
    )
$$;

-- Nodes with the state that follows from their tasks. A node whose task waits between two performances of the same work
-- runs: a condition between two looks, or work that its worker lost and that nobody has taken up yet. It has started when
-- the first of these performances was claimed.
drop view if exists millrace.node_now;
create view millrace.node_now as
  select n.id, n.parent, n.task, n.version, n.type, n.run_if, n.branch, n.created_at, n.begun_epoch,
    case
      when d.state = 'succeeded' then 'finished'
      when d.state = 'failed' then 'failed'
      when d.state = 'canceled' then 'killed'
      when d.state = 'skipped' then 'skipped'
      when l.state = 'running' and l.cancel_cause is not null then 'killing'
      when l.state = 'running' or work.is_unfinished then 'running'
      else 'incipient'
    end as state,
    case
      when work.is_unfinished or work.is_performed and n.begun_epoch = coalesce(l.epoch, d.epoch) then n.begun_at
      when work.is_performed then coalesce(l.started_at, d.started_at)
    end as started_at,
    d.finished_at,
    coalesce(d.state = 'canceled' and d.prior is null or l.cancel_cause is not null, false) as was_stopped,
    d.output, d.error, d.cause, d.actor
  from millrace.node n
    left join millrace.live l on l.id = n.task
    left join millrace.done d on d.id = n.task
    cross join lateral (
      select
        -- The last attempt runs, or has ended the task.
        coalesce(l.state = 'running', d.prior is null) as is_performed,
        n.begun_epoch is not null and exists (select 1 from millrace.unfinished_work(n.task, n.begun_epoch)) as is_unfinished
    ) work
  where l.id is not null or d.id is not null;
