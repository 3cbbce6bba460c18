-- Every transition of every task as one list. The ordinary ones are read from the times kept on the rows; the state they
-- came from is that of the entry before.
create or replace view millrace.history as
  select t.id as task, t.created_at as at, 0 as rank, 'created' as name, null::millrace.state as prior, 'waiting'::millrace.state as next,
    null::text as cause, t.creator as culprit, t.actor, null::int as holder, null::int as epoch, null::jsonb as error
  from millrace.task t
  union all
  select p.task, p.ready_at, 1, 'readied', 'waiting', 'ready', 'requirements met', null, null, null, p.epoch, null
  from (
    select l.id as task, l.ready_at, l.epoch from millrace.live l
    union all select d.id, d.ready_at, d.epoch from millrace.done d
    union all select a.task, a.ready_at, a.epoch from millrace.attempt a
  ) p where p.ready_at is not null
  union all
  select p.task, p.started_at, 2, 'claimed', 'ready', 'running', null, null, null, p.holder, p.epoch, null
  from (
    select l.id as task, l.started_at, l.holder, l.epoch from millrace.live l where l.state = 'running'
    union all select d.id, d.started_at, d.holder, d.epoch from millrace.done d where d.prior is null
    union all select a.task, a.started_at, a.holder, a.epoch from millrace.attempt a
  ) p where p.started_at is not null
  union all
  select a.task, a.ended_at, 3, a.outcome, 'running', a.next, a.cause, null, a.actor, a.holder, a.epoch, a.error from millrace.attempt a
  union all
  select d.id, d.finished_at, 5, d.state::text, coalesce(d.prior, 'running'), d.state, d.cause, d.culprit, d.actor, d.holder, d.epoch, d.error
  from millrace.done d
  union all
  select e.task, e.at, 4, e.name, e.prior, e.next, e.cause, e.culprit, e.actor, null, null, e.detail from millrace.event e;
