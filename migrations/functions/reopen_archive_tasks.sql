-- Opens tasks of archives again when they are asked for again. They leave `done` then, and nothing else deletes there but
-- retention: those that run pay nothing for it.
create function millrace.reopen_archive_tasks() returns trigger
language plpgsql as $$
begin
  update millrace.archive_task
  set is_open = true,
      opened  = opened + 1
  from gone
  where archive_task.task = gone.id;
  if found then perform millrace.order_exclusive(array(select g.id from gone g)); end if;
  return null;
end $$;

create trigger reopen_archive_tasks after delete on millrace.done
  referencing old table as gone
  for each statement execute function millrace.reopen_archive_tasks();
