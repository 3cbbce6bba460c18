-- Fills a migrated, empty store with :stored tasks of every state, scope and kind, of which some are rare.
--
-- Of a thousand tasks: 500 in one scope, 400 spread over a hundred archives, 98 of batches with a scope each; the rest is
-- rare. A tenth is unfinished, nearly all of that waiting.
begin;

insert into millrace.lane (queue, kind)
values ('default', 'bench.frequent'), ('default', 'bench.common'), ('heavy', 'bench.rare'), ('heavy', 'bench.common');

insert into millrace.dispatcher (name, lease_seconds, expires_at, lanes, host)
values ('bench', 3600, now() + interval '1 hour', array(select id from millrace.lane where kind <> 'bench.rare'), 'here');

create temp table story on commit drop as
select n,
  case
    when n % 20000 = 7 then 'rare:spread'
    when n < 40 then 'rare:oldest'
    when n % 1000 < 500 then 'default'
    when n % 1000 < 900 then 'archive:' || n % 100
    else 'batch:' || n / 100
  end as scope,
  case when n % 10 < 7 then 1 when n % 30000 = 8 then 3 when n % 10 = 8 then 4 else 2 end as lane,
  case when n between 1000 and 1020 then 999 when n % 3 = 0 then n - 1 end as creator,
  case
    when n > :stored * 0.9 then case
      when n % 20000 = 1 then 'running'
      when n % 20000 = 2 then 'held'
      when n % 5000 = 3 then 'delayed'
      when n % 100 = 4 then 'ready'
      else 'waiting' end
    when n % 50000 = 5 then 'canceled'
    when n % 1000 = 6 then 'failed'
    when n % 20 = 7 then 'skipped'
    else 'succeeded'
  end::millrace.state as state
from generate_series(1, :stored) n;

insert into millrace.task (id, created_at, creator, lane, scope, key, payload)
select n, now() - interval '1 day' + n * interval '10 milliseconds', creator, lane, scope,
  case when n % 2 = 0 then n || ':index' end, jsonb_build_object('n', n, 'text', repeat('x', 100))
from story order by n;

insert into millrace.live (id, ready_order, ready_at, not_before, unmet, lane, holder, epoch, state, held_by)
select n, case when state = 'ready' then nextval('millrace.ready_order') end, now(),
  case when state = 'delayed' then now() + interval '1 day' end, case when state = 'waiting' then 1 else 0 end, lane,
  case when state = 'running' then 1 end, case when state = 'running' then 1 else 0 end, state,
  case when state = 'held' then 'bench' end
from story where state in ('waiting', 'delayed', 'ready', 'running', 'held') order by n;

insert into millrace.done (id, ready_at, started_at, finished_at, holder, epoch, state)
select n, now(), now(), now(), 1, 1, state
from story where state not in ('waiting', 'delayed', 'ready', 'running', 'held') order by n;

select setval('millrace.task_id', :stored);

commit;

vacuum analyze;
