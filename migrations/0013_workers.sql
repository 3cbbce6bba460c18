-- What a person sees of a worker, and asks of it from outside: how much it can take, and to pause or drain.
alter table millrace.dispatcher
  add column slots      int,                     -- how many tasks it performs at once; null: it does not say
  add column process    int,                     -- the number of its process on its host
  add column version    text,
  add column stopped_at timestamptz,             -- it said that it stops; one that died has dead_at alone
  -- What it is to do, found with its heartbeat: 'running', 'paused' or 'draining' (takes nothing; then it may end).
  add column wanted     text not null default 'running',
  add column wanted_at  timestamptz,
  add column wanted_by  text;
