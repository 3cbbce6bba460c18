-- The index of an archive: which files it has at every revision that was indexed, and the words in them.
--
-- A row of `indexed_file` is a file as it was from one indexed revision until another, so that a revision costs a row for
-- each file it changes. What a task finds is gathered in `index_staged`, batch by batch, where nobody reads it, and is
-- taken over with the task's success: see functions/publish_index.sql.

create table millrace.indexed_revision (
  archive    bigint not null references millrace.archive,
  number     bigint not null,
  task       bigint not null,                  -- that indexed it last
  indexed_at timestamptz not null default clock_timestamp(),
  file_count bigint not null,
  left_out   bigint not null,                  -- files of its changes that cannot be in an index
  id         text not null,
  primary key (archive, number)
);

create table millrace.indexed_file (
  archive        bigint not null references millrace.archive,
  from_number    bigint not null,              -- an indexed revision
  until_number   bigint,                       -- the first indexed revision that is different; null: none is
  changed_number bigint not null,              -- the revision that changed the file last
  size           bigint,                       -- null: a submodule
  kind           text not null,
  path           text collate "C" not null,
  digest         bytea,                        -- SHA-256; null: a submodule
  properties     jsonb not null,
  words          tsvector not null,            -- of the path
  primary key (archive, path, from_number) include (until_number),
  constraint indexed_file_range check (until_number > from_number),
  constraint indexed_file_kind check (kind in ('file', 'link', 'submodule')),
  constraint indexed_file_content check ((digest is null) = (kind = 'submodule') and (size is null) = (digest is null))
);
create index indexed_file_digest on millrace.indexed_file (archive, digest);
create index indexed_file_words on millrace.indexed_file using gin (words);

-- What is written in files, once for all that have the same bytes, in whichever archive and revision.
create table millrace.indexed_text (
  digest bytea primary key,
  is_cut boolean not null,                     -- the file is longer than what of it is here
  text   text not null,
  words  tsvector not null
);
create index indexed_text_words on millrace.indexed_text using gin (words);

-- Work under way. It belongs to a task; an attempt goes on where the one before it was lost.
create table millrace.index_build (
  id       bigint generated always as identity primary key,
  archive  bigint not null references millrace.archive,
  task     bigint not null unique,
  number   bigint not null,
  revision text not null
);
create index index_build_archive on millrace.index_build (archive);

create table millrace.index_staged (
  build          bigint not null references millrace.index_build on delete cascade,
  changed_number bigint,
  size           bigint,
  is_tree        boolean not null,             -- whatever lies below and is not staged is gone
  kind           text,                         -- null: no file lies there
  path           text collate "C" not null,
  digest         bytea,
  properties     jsonb,
  words          tsvector,
  primary key (build, path)
);
