-- A schedule may have made thousands of runs at one revision: the newest of them is found without looking at the others.
drop index millrace.archive_task_name;
create index archive_task_name on millrace.archive_task (archive, name, number desc, task desc);
