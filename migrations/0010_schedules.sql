-- Schedules: when the workflows of an archive's newest definition run by themselves, and what came of each time.
--
-- A moment that has come is taken under a lock on the schedule's row, in the transaction that plans its run and sets the
-- next moment: however many servers look, each moment is one run.

create table millrace.schedule (
  id          bigint generated always as identity primary key,
  archive     bigint not null references millrace.archive,
  created_at  timestamptz not null default clock_timestamp(),
  next_at     timestamptz,                     -- null: it never comes again
  paused_at   timestamptz,
  last_number bigint,                          -- the revision at which it last ran
  workflow    text not null,
  cron        text not null,
  timezone    text not null,
  overlap     text not null,
  last_run    text,
  paused_by   text,
  problem     text,                            -- why it cannot run: the newest definition has errors
  constraint schedule_once unique (archive, workflow, cron, timezone),
  constraint schedule_overlap check (overlap in ('skip', 'allow')),
  constraint schedule_paused check ((paused_at is null) = (paused_by is null)),
  constraint schedule_last_run check ((last_run is null) = (last_number is null))
);
create index schedule_due on millrace.schedule (next_at) where paused_at is null and next_at is not null;

-- The definition that the schedules of an archive were taken from.
create table millrace.schedule_source (
  archive    bigint primary key references millrace.archive,
  definition bytea not null
);

-- What came of the last moments of a schedule.
create table millrace.schedule_tick (
  schedule     bigint not null references millrace.schedule on delete cascade,
  at           timestamptz not null,           -- when it was to run
  taken_at     timestamptz not null,           -- when it was taken
  missed_since timestamptz,                    -- the first of several moments that passed untaken; this is the last of them
  number       bigint,
  outcome      text not null,
  run          text,
  reason       text,
  actor        text,                           -- who asked for it by hand
  primary key (schedule, at),
  constraint schedule_tick_outcome check (outcome in ('planned', 'skipped', 'refused')),
  constraint schedule_tick_planned check ((outcome = 'planned') = (run is not null and number is not null)),
  constraint schedule_tick_reason check ((outcome = 'planned') = (reason is null))
);
