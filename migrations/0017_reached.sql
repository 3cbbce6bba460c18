-- How far a dispatcher has claimed, in each lane and priority: while a long snapshot keeps vacuum away, the next one need not
-- begin at the start of an index that is full of what is gone.
alter table millrace.dispatcher add column reached jsonb;

-- What a dispatcher runs, found without walking over what others ran.
drop index millrace.live_running;
create index live_running on millrace.live (holder, id) where state = 'running';
