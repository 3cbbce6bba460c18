-- Who may do what, and who did: tokens, sessions of browsers, the audit, and first answers kept for repetitions.
--
-- Of every secret only a hash is kept. The secrets are 32 random bytes: too many to guess, so a fast hash is safe.

create table millrace.token (
  id           bigint generated always as identity primary key,
  hash         bytea not null unique,
  name         text not null,
  role         text check (role in ('viewer', 'submitter', 'operator', 'admin')),
  limit_to     text check (limit_to in ('archive', 'node', 'task')),
  limit_name   text,
  created_at   timestamptz not null default now(),
  created_by   text not null,
  expires_at   timestamptz,
  revoked_at   timestamptz,
  revoked_by   text,
  last_used_at timestamptz,                  -- true to the minute
  -- A token has a role, or is limited to one thing and may do nothing else.
  constraint token_role_or_limit check ((role is null) = (limit_to is not null)),
  constraint token_limit_named check ((limit_to is null) = (limit_name is null))
);
-- The record names tokens by name: no two that work may share one.
create unique index token_name on millrace.token (name) where revoked_at is null;

-- Tokens of running tasks are no rows: they are signed with this key, and are good while their attempt runs.
create table millrace.signing_key (
  key     bytea not null,
  made_at timestamptz not null default now()
);
create unique index signing_key_single on millrace.signing_key ((true));

create table millrace.session (
  hash       bytea primary key,
  name       text not null,
  role       text not null check (role in ('viewer', 'submitter', 'operator', 'admin')),
  token      bigint references millrace.token on delete cascade, -- it ends with the token that it comes from
  created_at timestamptz not null default now(),
  expires_at timestamptz not null
);
create index session_expires on millrace.session (expires_at);
create index session_name on millrace.session (name);
create index session_token on millrace.session (token) where token is not null;

-- Deleted when used: a link works once, on whichever server it is used.
create table millrace.sign_in_link (
  hash          bytea primary key,
  name          text not null,
  role          text not null check (role in ('viewer', 'submitter', 'operator', 'admin')),
  token         bigint references millrace.token on delete cascade,
  session_until timestamptz,                 -- made by a session: what it opens lasts no longer than that one
  created_by    text not null,
  expires_at    timestamptz not null
);
create index sign_in_link_expires on millrace.sign_in_link (expires_at);
create index sign_in_link_token on millrace.sign_in_link (token) where token is not null;

-- Written before the effect and completed after it. A row without a status says: begun, and the process died or is
-- still at it.
create table millrace.audit (
  id         bigint generated always as identity primary key,
  at         timestamptz not null default clock_timestamp(),
  actor      text not null,
  via        text not null,
  action     text not null,                  -- the route's name
  subject    jsonb not null,                 -- the path's parameters
  request_id text not null,
  status     smallint
);
create index audit_actor on millrace.audit (actor, id);
create index audit_at on millrace.audit (at);

-- The first answer to a request that carried an Idempotency-Key, committed with the request's effect.
create table millrace.first_answer (
  actor       text not null,
  key         text not null,
  fingerprint bytea not null,
  status      smallint not null,
  headers     jsonb not null,
  body        text not null,
  answered_at timestamptz not null default now(),
  primary key (actor, key)
);
create index first_answer_at on millrace.first_answer (answered_at);
