-- Of each revision and name of a window, the newest task.
create function millrace.loom_tasks(p_archive bigint, p_first bigint, p_last bigint) returns bigint[]
language sql stable as $$
  select array_agg(cell.task)
  from (
    select max(t.task) as task
    from millrace.archive_task t
    where t.archive = p_archive and t.number between p_first and p_last
    group by t.number, t.name
  ) cell
$$;
