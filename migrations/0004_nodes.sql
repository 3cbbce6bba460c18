-- The tree of nodes: who is whose parent, and the data of each. A node's state is that of its task and kept nowhere else.

-- Drawn under a lock that lasts until commit, so that a higher number is never seen before a lower one.
create sequence millrace.node_id;
-- Says which value of a key is meant, also when it is removed and set again.
create sequence millrace.node_value;

create table millrace.node (
  id          bigint primary key,
  parent      bigint references millrace.node,  -- null: root
  task        bigint not null unique,
  version     int not null default 1,           -- raised by every change of the node or of its data
  begun_epoch int,                              -- the attempt of the task that last began its work
  begun_at    timestamptz,                      -- when the work began that this attempt belongs to
  created_at  timestamptz not null default clock_timestamp(),
  type        text not null,
  run_if      text,                             -- null: success
  branch      text,                             -- null: then
  constraint node_type check (type in ('command', 'shell command', 'condition', 'if', 'sleep')),
  constraint node_run_if check (run_if in ('success', 'failure', 'always')),
  constraint node_branch check (branch in ('then', 'else')),
  constraint node_begun check ((begun_epoch is null) = (begun_at is null))
) with (fillfactor = 90);                       -- a start changes the row and no index
create index node_parent on millrace.node (parent, id);

create table millrace.node_data (
  node    bigint not null references millrace.node on delete cascade,
  version bigint not null default nextval('millrace.node_value'),
  key     text not null,
  value   jsonb not null,
  primary key (node, key)
);
