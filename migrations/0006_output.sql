-- What tasks print: chunks of their attempts' output, written by workers on any machine and read by offset.
create table millrace.output (
  task          bigint not null,
  attempt       int not null,                 -- the epoch of the lease
  start         bigint not null,              -- offset of the first byte in the whole
  stdout_start  bigint not null,              -- bytes of the streams before this chunk
  stderr_start  bigint not null,
  stdout_length int not null,                 -- bytes of the streams in it; both 0: a mark of Millrace's own
  stderr_length int not null,
  at            timestamptz not null default clock_timestamp(),
  runs          int[],                        -- lengths of alternating runs, stdout first; null: all of one stream
  bytes         bytea not null,
  primary key (task, attempt, start)
);
-- Text compresses well: the bytes are left to the server's default_toast_compression.
--
-- Only chunks that have bytes of the stream: the next one is found at once, however much the other stream holds.
create index output_stdout on millrace.output (task, attempt, stdout_start) where stdout_length > 0;
create index output_stderr on millrace.output (task, attempt, stderr_start) where stderr_length > 0;
