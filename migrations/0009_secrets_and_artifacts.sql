-- Secrets that tasks are given, sealed with a key that is not in the database; and files that tasks leave behind.

create table millrace.secret (
  id         bigint generated always as identity unique, -- the order of lists
  created_at timestamptz not null default clock_timestamp(),
  changed_at timestamptz not null default clock_timestamp(),
  version    int not null default 1,           -- raised by every change
  archive    text not null,                    -- empty: for every archive
  name       text not null,
  created_by text not null,
  changed_by text not null,
  key        bytea not null,                   -- fingerprint of the key that opens it
  sealed     bytea not null,                   -- nonce, tag and ciphertext, bound to archive, name and version
  primary key (archive, name)
);

-- The files of a task's last success. They come with its outcome, in one transaction.
create table millrace.artifact (
  task          bigint not null,
  size          bigint not null,
  created_at    timestamptz not null default clock_timestamp(),
  attempt       int not null,                  -- the epoch of the lease under which its pieces are stored
  number        int not null,                  -- of the file within the attempt
  is_executable boolean not null,
  path          text not null,
  digest        bytea not null,                -- SHA-256
  primary key (task, path)
);

-- What files hold. Stored before the outcome: pieces of an attempt that came to nothing belong to no artifact.
create table millrace.artifact_piece (
  task    bigint not null,
  attempt int not null,
  number  int not null,
  start   bigint not null,
  bytes   bytea not null,
  primary key (task, attempt, number, start)
);
-- Most artifacts are compressed already.
alter table millrace.artifact_piece alter column bytes set storage external;

-- Attempts that have begun to store files and have neither kept nor dropped them. What a worker that died left is found here.
create table millrace.artifact_upload (
  task    bigint not null,
  attempt int not null,
  primary key (task, attempt)
);
