-- An index that sums up stretches of a table, made while that is empty, counts the first stretch as summed up: some two
-- thousand tasks would each be written into the sums, which costs more than all else of adding them. As with every later
-- stretch, that is done once it is full.
do $$
begin
  if not exists (select 1 from millrace.task) then perform brin_desummarize_range('millrace.task_search', 0); end if;
  if not exists (select 1 from millrace.done) then perform brin_desummarize_range('millrace.done_finished', 0); end if;
end $$;
