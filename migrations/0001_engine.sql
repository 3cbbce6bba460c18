-- The work graph: what was asked (task), what is alive (live), what came of it (done).
--
-- Claiming and finishing touch only `live`, which stays as small as the unfinished work; `task`, `done`,
-- `attempt` and `event` are append-only history. So the cost of running work does not grow with what has run.

create schema millrace;

create table millrace.schema_version (
  version          int not null,
  functions_digest text not null,
  migrated_at      timestamptz not null default now()
);
insert into millrace.schema_version (version, functions_digest) values (0, '');
create unique index schema_version_single on millrace.schema_version ((true));

create type millrace.state as enum (
  'waiting', 'delayed', 'ready', 'running', 'held', 'succeeded', 'failed', 'canceled', 'skipped'
);

-- What of the prerequisite an edge waits for. 'ended' is of the engine alone: a task that supersedes a running one
-- waits for its end; such an edge is removed once it is met.
create type millrace.condition as enum ('succeeded', 'failed', 'finished', 'ended');

create sequence millrace.task_id;
-- Order among ready tasks of one priority: drawn when a task becomes ready, hence first ready, first started.
create sequence millrace.ready_order;

-- A lane is a queue and a kind: what a dispatcher claims from, each with an index range of its own.
create table millrace.lane (
  id    int generated always as identity primary key,
  queue text not null,
  kind  text not null,
  unique (queue, kind)
);
create index lane_kind on millrace.lane (kind);

-- What was asked. Inserted once, never updated.
create table millrace.task (
  id           bigint primary key,
  created_at   timestamptz not null default clock_timestamp(),
  creator      bigint,                       -- the task whose callback added it
  lane         int,                          -- null: a milestone
  priority     int not null default 0,       -- lower first
  max_attempts smallint not null default 20,
  supersedes   boolean not null default false,
  gates        int[],                        -- locks and limits it needs, in the order of passing
  scope        text not null,
  key          text,
  actor        text,                         -- the person or program that added it
  payload      jsonb
);
create unique index task_key on millrace.task (scope, key) where key is not null;

-- One row per unfinished task: the row that every protocol locks. Deleted when the task ends.
--
-- It has no check constraints: they would be set up anew for every statement that writes it, a tenth of the cost of a step,
-- and they are tried on what an update works out from its snapshot before it finds that the row has changed meanwhile.
-- What they would say stands in functions/verify.sql, which every test asks.
create table millrace.live (
  id            bigint primary key,
  ready_order   bigint,
  ready_at      timestamptz,
  started_at    timestamptz,
  not_before    timestamptz,
  unmet         int not null default 0,      -- requirements not met yet
  lane          int,
  priority      int not null default 0,
  holder        int,                         -- the dispatcher that runs it
  epoch         int not null default 0,      -- raised by every claim: (holder, epoch) is the fencing token
  state         millrace.state not null,
  failures      smallint not null default 0, -- transient errors since it was last asked for
  deaths        smallint not null default 0, -- dispatchers that died while it ran
  max_attempts  smallint not null default 20,
  gate          int,                         -- the gate it queues at while ready
  gates_held    smallint not null default 0, -- how many of `gates`, from the first, it holds
  supersedes    boolean not null default false,
  is_rerun      boolean not null default false,
  is_begun      boolean not null default false,
  gates         int[],
  cancel_cause  text,                        -- set on a running task that was asked to stop; empty: for no given reason
  cancel_by     bigint,                      -- the task that supersedes it
  cancel_actor  text,
  held_by       text
) with (
  fillfactor = 85,
  -- The table turns over completely every few seconds under load: vacuum it by count, not by share, and never analyze
  -- it: the plans of the engine do not depend on statistics.
  autovacuum_vacuum_scale_factor = 0,
  autovacuum_vacuum_threshold = 20000,
  autovacuum_vacuum_cost_delay = 0,
  autovacuum_analyze_scale_factor = 0,
  autovacuum_analyze_threshold = 1000000000
);
create index live_ready on millrace.live (lane, priority, ready_order) where state = 'ready' and gate is null;
create index live_due on millrace.live (not_before) where state = 'delayed';
create index live_gated on millrace.live (gate, priority, ready_order) where state = 'ready' and gate is not null;
create index live_canceling on millrace.live (holder) where cancel_cause is not null;

-- What came of it. Inserted once; moved to `attempt` or `event` when the task is asked for again.
create table millrace.done (
  id          bigint primary key,
  ready_at    timestamptz,
  started_at  timestamptz,
  finished_at timestamptz not null default clock_timestamp(),
  culprit     bigint,                        -- the task that superseded it, or whose end made it impossible
  holder      int,
  epoch       int not null,
  state       millrace.state not null,
  prior       millrace.state,                -- the state it ended from, when that was not running
  failures    smallint not null default 0,
  deaths      smallint not null default 0,
  is_rerun    boolean not null default false, -- its dependents are still to run again after it
  cause       text,
  actor       text,
  error       jsonb,
  output      jsonb,
  constraint done_state check (state in ('succeeded', 'failed', 'canceled', 'skipped'))
);

-- Performances that did not end the task, or whose end was taken back.
create table millrace.attempt (
  task       bigint not null,
  epoch      int not null,
  outcome    text not null,                  -- retry, later, lease_lost, or the state it had ended in
  ready_at   timestamptz,
  started_at timestamptz,
  ended_at   timestamptz not null default clock_timestamp(),
  holder     int,
  next       millrace.state,                 -- the state it went to
  cause      text,
  actor      text,
  error      jsonb,
  output     jsonb
);
create index attempt_task on millrace.attempt (task);

-- Transitions that no other row tells of.
create table millrace.event (
  id      bigint generated always as identity primary key,
  task    bigint not null,
  at      timestamptz not null default clock_timestamp(),
  name    text not null,
  prior   millrace.state,
  next    millrace.state,
  cause   text,
  culprit bigint,
  actor   text,
  detail  jsonb
);
create index event_task on millrace.event (task);

-- dependent waits for prerequisite.
create table millrace.edge (
  prerequisite bigint not null,
  dependent    bigint not null,
  condition    millrace.condition not null default 'succeeded',
  primary key (prerequisite, dependent, condition)
);
create index edge_dependent on millrace.edge (dependent);
-- One usable index per statement, whatever the statistics say.
alter table millrace.edge alter prerequisite set statistics 0, alter dependent set statistics 0;

-- task cancels target when it becomes ready.
create table millrace.supersede (
  task   bigint not null,
  target bigint not null,
  primary key (task, target)
);
create index supersede_target on millrace.supersede (target);

-- Exclusive locks (capacity 1) and limits. `used` counts the tasks that hold a place.
create table millrace.gate (
  id       int generated always as identity primary key,
  name     text not null unique,
  capacity int not null check (capacity > 0),
  used     int not null default 0 check (used >= 0)
) with (fillfactor = 50);

-- Consequences that a transaction could not apply at once, because a row was locked or because they spread:
-- written with the change that causes them, applied by the next claim.
create type millrace.effect_kind as enum ('unblock', 'skip', 'supersede', 'complete', 'gate', 'rerun');
create table millrace.effect (
  id      bigint generated always as identity primary key,
  kind    millrace.effect_kind not null,
  ref     bigint not null,                   -- a task; of 'gate': a gate
  n       int not null default 0,
  culprit bigint,
  stalled xid8                               -- the transaction that found its row locked; another one tries again
) with (
  autovacuum_vacuum_scale_factor = 0,
  autovacuum_vacuum_threshold = 5000,
  autovacuum_vacuum_cost_delay = 0
);

-- One row per running dispatcher: its lease covers every task it holds, so a heartbeat is one small update.
create table millrace.dispatcher (
  id            int generated always as identity primary key,
  name          text not null,
  started_at    timestamptz not null default clock_timestamp(),
  lease_seconds float8 not null,
  expires_at    timestamptz not null,
  dead_at       timestamptz,
  swept_at      timestamptz,
  lanes         int[] not null default '{}'
) with (fillfactor = 50);
create index dispatcher_unswept on millrace.dispatcher (expires_at) where swept_at is null;

-- Dispatchers that sleep. While there are none, nobody sends a notification.
create table millrace.idle (
  dispatcher int primary key,
  lanes      int[] not null
) with (fillfactor = 50);
