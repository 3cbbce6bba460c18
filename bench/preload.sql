-- Fills a migrated, empty store with :finished succeeded tasks and :waiting tasks that wait, by plain inserts.
--
-- The rows are those that adding and performing the tasks would leave behind: each finished task but every
-- thousandth waited for the one before it; the waiting ones wait, a thousand each, for tasks that are held. They
-- are of the kind that is drained afterwards, so that they lie in the very index ranges that claims walk through.
\set blockers '((:waiting + 999) / 1000)'

begin;

insert into millrace.lane (queue, kind)
values ('default', 'bench.noop')
on conflict do nothing;

select id as lane
from millrace.lane
where queue = 'default' and kind = 'bench.noop' \gset

insert into millrace.task (id, created_at, lane, scope, payload)
select n, now() - interval '1 day' + n * interval '10 milliseconds', :lane, 'default',
  jsonb_build_object('n', n, 'text', repeat('x', 100))
from generate_series(1, :finished + :blockers + :waiting) as n;

insert into millrace.done (id, ready_at, started_at, finished_at, holder, epoch, state)
select n, at, at + interval '1 millisecond', at + interval '2 milliseconds', 1, 1, 'succeeded'
from generate_series(1, :finished) as n,
  lateral (select now() - interval '1 day' + n * interval '10 milliseconds') as life (at);

insert into millrace.edge (prerequisite, dependent)
select n - 1, n
from generate_series(1, :finished) as n
where n % 1000 <> 1;

insert into millrace.live (id, lane, state, held_by)
select :finished + n, :lane, 'held', 'bench'
from generate_series(1, :blockers) as n;

insert into millrace.live (id, lane, state, unmet)
select :finished + :blockers + n, :lane, 'waiting', 1
from generate_series(1, :waiting) as n;

insert into millrace.edge (prerequisite, dependent)
select :finished + 1 + (n - 1) / 1000, :finished + :blockers + n
from generate_series(1, :waiting) as n;

select setval('millrace.task_id', :finished + :blockers + :waiting);

commit;
