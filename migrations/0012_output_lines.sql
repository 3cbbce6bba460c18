-- Lines of what tasks print: how many there are up to the end of each chunk, so that a page is found without what is before it.
--
-- Null: the chunk was stored by a release before this one. Whoever asks for its lines counts them, once.
alter table millrace.output
  add column lines        bigint,              -- line feeds from the beginning of the attempt to the end of this chunk
  add column stdout_lines bigint,
  add column stderr_lines bigint,
  add column error_at     int;                 -- where in this chunk a line begins, or goes on, that looks like an error

-- The chunk in which a line ends. A line that fills many chunks is told of by the last of them alone.
create index output_lines on millrace.output (task, attempt, lines, start);
create index output_stdout_lines on millrace.output (task, attempt, stdout_lines, stdout_start) where stdout_length > 0;
create index output_stderr_lines on millrace.output (task, attempt, stderr_lines, stderr_start) where stderr_length > 0;
create index output_errors on millrace.output (task, attempt, start) where error_at is not null;
