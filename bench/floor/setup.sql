-- The least that a durable queue can do: rows that are claimed and then removed.
create table task (
  id      bigint primary key,
  claimed boolean not null default false,
  payload jsonb not null
);
create index task_ready on task (id) where not claimed;

insert into task (id, payload)
select n, jsonb_build_object('n', n, 'text', repeat('x', 100))
from generate_series(1, :count) as n;
