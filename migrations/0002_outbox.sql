-- The outbox: every change of every task as a line of events that subscribers read in the order of commits and replay.

-- What a transaction tells. One row for each statement that changes tasks, with all the tasks it changed. Inserted once,
-- never updated.
create table millrace.outbox (
  -- Drawn while the tasks' rows are locked: orders what was told of one task.
  id        bigint generated always as identity,
  xid       xid8 not null default pg_current_xact_id(),
  at        timestamptz not null default clock_timestamp(),
  -- The ordinary transitions, told in this order.
  created   bigint[],
  succeeded bigint[],                        -- from running
  readied   bigint[],                        -- from waiting
  claimed   bigint[],                        -- from ready
  holder    int,                             -- the dispatcher that claimed, or performed
  -- Any other: `name` happened to `tasks`; `priors`, `culprits` and `details` are of the task in the same place.
  name      text,
  next      millrace.state,
  tasks     bigint[],
  priors    millrace.state[],
  culprits  bigint[],
  details   jsonb[],
  cause     text,
  actor     text,
  scope     text,                            -- of an application's event
  primary key (xid, id)
) with (toast_tuple_target = 8160);
-- Compressing lists of numbers takes longer than writing them.
alter table millrace.outbox
  alter created set storage external, alter succeeded set storage external, alter readied set storage external,
  alter claimed set storage external, alter tasks set storage external;

-- The line of events: which rows of the outbox, in which order, from which number on. A page is written after the commit
-- of what it names, by one session at a time, and holds everything that `seen` sees and the page before did not.
create table millrace.outbox_page (
  first   bigint primary key,                -- the number of its first event
  last    bigint not null,
  line    bigint not null,                   -- how many rows of the outbox there were up to here
  at      timestamptz not null default clock_timestamp(),
  seen    pg_snapshot not null,
  xids    xid8[] not null,
  ids     bigint[] not null,
  numbers bigint[] not null                  -- of the first event of each row
);
