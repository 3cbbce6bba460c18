-- Indexes for lists of tasks: rare ones are found among millions without a cost for those that are added and run.

-- Which stretches of the table may hold a scope, a lane or a creator. Adding a task does not touch it: stretches are
-- summed up later, and until then they are looked through. `id + 0` is an id that the primary key does not know: a search
-- within a range of ids is to be answered from here.
create index task_search on millrace.task using brin (
  (id + 0), scope text_bloom_ops, scope collate "C" text_minmax_ops, lane int4_bloom_ops, creator int8_minmax_ops
) with (pages_per_range = 32, autosummarize = on);

create index live_running on millrace.live (id) where state = 'running';
create index live_held on millrace.live (id) where state = 'held';
create index done_unsuccessful on millrace.done (state, id) where state <> 'succeeded';

-- Where a dispatcher runs.
alter table millrace.dispatcher add column host text;
