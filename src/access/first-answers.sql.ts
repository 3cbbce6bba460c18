import { bool, int2, jsonb, maybe, named, one, run, text } from '../db/index.ts'

const bytea = named<Buffer>('bytea')

/**
 * Whether this transaction is the one that answers the key. The lock is let go with the transaction. Two keys whose hashes
 * meet are taken for one only while both are under way: the second is told to try again.
 */
export const tryLockKey = one('access.lock_idempotency_key', { actor: text, key: text }, { is_mine: bool })`
  select pg_try_advisory_xact_lock(7420003, hashtext(${'actor'}::text || ' ' || ${'key'}::text)) as is_mine
`

export const findFirstAnswer = maybe(
  'access.find_first_answer',
  { actor: text, key: text },
  { fingerprint: bytea, status: int2, headers: jsonb, body: text },
)`
  select fingerprint, status, headers, body
  from millrace.first_answer
  where actor = ${'actor'}
    and key = ${'key'}
    and answered_at > now() - interval '24 hours'
`

/** Replaces an answer that is no longer remembered. */
export const keepFirstAnswer = run('access.keep_first_answer', {
  actor: text,
  key: text,
  fingerprint: bytea,
  status: int2,
  headers: jsonb,
  body: text,
})`
  insert into millrace.first_answer (actor, key, fingerprint, status, headers, body)
  values (${'actor'}, ${'key'}, ${'fingerprint'}, ${'status'}, ${'headers'}, ${'body'})
  on conflict (actor, key) do update
  set fingerprint = excluded.fingerprint,
      status      = excluded.status,
      headers     = excluded.headers,
      body        = excluded.body,
      answered_at = excluded.answered_at
`
