-- Where each server is reached, for workers on other machines and for the commands that workers run.
create table millrace.server_address (
  server  uuid primary key,
  seen_at timestamptz not null default clock_timestamp(),   -- renewed while the server runs
  started_at timestamptz not null default clock_timestamp(),
  host    text not null,                                    -- the machine of the server
  url     text not null,                                    -- as that machine reaches the server
  far_url text                                              -- as other machines do; null: it listens for its own alone
);
