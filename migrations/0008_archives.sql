-- Archives: the watched repositories, how far each is planned, and what every revision became.
--
-- The cursor of an archive is `planned_number`. A revision, its tasks and the cursor change in one transaction, whose
-- update of the archive's row asks for the cursor it began from: whoever comes second changes nothing.

-- A task whose cancels form a line, such as that of one name through all revisions, names the nearest one alone: what
-- that one would have canceled is meant as well. Without it a line of n unfinished tasks would need n² / 2 rows.
alter table millrace.supersede add column is_chain boolean not null default false;

create table millrace.archive (
  id              bigint generated always as identity primary key,
  created_at      timestamptz not null default clock_timestamp(),
  created_by      text not null,
  first_number    bigint not null,             -- the first revision that is planned
  planned_number  bigint not null,             -- the last one that was; `first_number` - 1 before that
  youngest_number bigint not null,             -- the youngest that was seen
  last_run        bigint not null default 0,   -- of runs by hand and by schedule
  version         int not null default 1,      -- raised by every change that a person makes
  is_set_back     boolean not null default false, -- somebody accepted that the youngest is older than the cursor
  name            text collate "C" not null unique,
  source          jsonb not null,
  identity        text,                        -- null: the repository has none yet
  planned_id      text not null,
  youngest_id     text,
  state           text not null default 'active',
  problem         jsonb,                       -- why it is broken
  definition      bytea,                       -- hash of the workflow files at the cursor; null: not read yet
  constraint archive_state check (state in ('active', 'held', 'broken', 'removed')),
  constraint archive_numbers check (first_number >= 1 and planned_number >= first_number - 1),
  constraint archive_broken_because check ((state = 'broken') = (problem is not null))
) with (fillfactor = 50);

-- When an archive is looked at next, and who is at it. A row of its own: a notice changes it while the planning of the
-- same archive holds the other one, and neither waits.
create table millrace.archive_look (
  archive       bigint primary key references millrace.archive,
  look_at       timestamptz,                   -- null: after a notice only
  looked_at     timestamptz,
  announced_at  timestamptz,                   -- of the last notice
  failing_since timestamptz,                   -- the first failure to read the repository after the last success
  planner_until timestamptz,                   -- the planner is at it until then, and may say longer
  planner       text,
  problem       jsonb,                         -- what keeps the repository from being read
  constraint look_planner check ((planner is null) = (planner_until is null)),
  constraint look_failing check ((failing_since is null) = (problem is null))
) with (fillfactor = 50);
create index archive_look_due on millrace.archive_look (look_at) where planner_until is null;
create index archive_look_taken on millrace.archive_look (planner_until) where planner_until is not null;

-- Workflow files as they were at some revision, stored once.
create table millrace.definition (
  hash  bytea primary key,
  files jsonb not null                          -- [{"path", "text"}], or "base64" for what is not UTF-8
);

-- What was announced. A hint for a repository that can be read; all there is for one that cannot.
create table millrace.notice (
  archive     bigint not null references millrace.archive,
  received_at timestamptz not null default clock_timestamp(),
  number      bigint,                           -- null: announced by another name, such as a commit of git
  rev         text not null,
  txn         text,
  actor       text not null,
  content     jsonb,                            -- of an archive that is only announced: files, author, message, changes
  primary key (archive, rev)
);
create index notice_number on millrace.notice (archive, number) where number is not null;

create table millrace.revision (
  archive     bigint not null references millrace.archive,
  number      bigint not null,
  planned_at  timestamptz not null default clock_timestamp(),
  date        timestamptz,
  depth       int not null default 0,           -- how many machine commits led to it
  changes_cut boolean not null default false,
  id          text not null,
  author      text,
  message     text not null,
  definition  bytea not null references millrace.definition,
  cause       jsonb,                            -- {"marker", "task", "rev"} of a commit made by a task
  changes     jsonb not null,                   -- [[action, path], …]; a folder's path ends with a slash
  problems    jsonb not null default '[]',
  primary key (archive, number)
);
create index revision_id on millrace.revision (archive, id);

-- Which task of the engine is which task of which revision. COMMIT is one of them.
create table millrace.archive_task (
  archive      bigint not null references millrace.archive,
  number       bigint not null,
  task         bigint not null,
  opened       int not null default 0,          -- raised whenever the task is asked for again
  is_exclusive boolean not null default false,
  is_chained   boolean not null default false,  -- it cancels earlier ones of its name
  is_open      boolean not null default true,   -- false: was found to be over; see functions/reopen_archive_tasks.sql
  name         text collate "C" not null,
  run          text not null default '',        -- empty: the commit's own
  workflow     text,                            -- null: COMMIT
  primary key (archive, number, name, run)
);
create index archive_task_name on millrace.archive_task (archive, name, number desc);
create unique index archive_task_task on millrace.archive_task (task);
-- Few: what is over is taken out by the next planning that comes across it.
create index archive_task_open on millrace.archive_task (archive, name, number) where is_open;
create index archive_task_exclusive on millrace.archive_task (archive, number) where is_open and is_exclusive;
create index archive_task_late on millrace.archive_task (archive, name) where is_open and (opened > 0 or run <> '');
