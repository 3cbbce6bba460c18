-- Rouses sleeping dispatchers. A notification takes a lock of the whole server until commit, so none is sent while
-- every dispatcher is busy: a busy one looks again by itself.
create function millrace.wake() returns void
language plpgsql as $$
begin
  if exists (select 1 from millrace.idle) then
    perform pg_notify('millrace', '');
  end if;
end $$;
