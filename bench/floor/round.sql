with claimed as (
  update task
  set claimed = true
  where ctid = any (array (
    select ctid
    from task
    where not claimed
    order by id
    limit 100
    for update skip locked
  ))
  returning id, payload
)
select coalesce(array_agg(id), '{}')::text as ids, count(payload) as payloads
from claimed \gset
delete from task
where id = any (:ids::bigint[]);
