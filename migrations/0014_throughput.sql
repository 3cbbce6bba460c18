-- When tasks ended, for charts of the recent past. Rows come in the order of time, so the index is a few numbers for each
-- stretch of the table and costs next to nothing to keep; a B-tree would cost a third of recording an outcome.
create index done_finished on millrace.done using brin (finished_at timestamptz_minmax_multi_ops)
  with (pages_per_range = 32, autosummarize = on);
