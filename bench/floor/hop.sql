\set n :n + 1
with finished as (
  delete from task where id = :n
)
update task
set claimed = true
where id = :n + 1
returning payload;
