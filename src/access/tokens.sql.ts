import { bool, int4, int8, many, maybe, named, nullable, one, run, text, timestamptz } from '../db/index.ts'
import type { Limit, Role } from './identity.ts'

const bytea = named<Buffer>('bytea')
const role = named<Role>('text')
const limitTo = named<Limit['to']>('text')

/** A token that has expired works no more, and gives its name free. */
export const retireExpired = run('access.retire_expired_token', { name: text })`
  update millrace.token
  set revoked_at = expires_at,
      revoked_by = 'its expiry'
  where name = ${'name'}
    and revoked_at is null
    and expires_at <= now()
`

/** No row: a token of that name works already. */
export const insertToken = maybe(
  'access.insert_token',
  {
    name: text,
    hash: bytea,
    role: nullable(role),
    limit_to: nullable(limitTo),
    limit_name: nullable(text),
    actor: text,
    expires_at: nullable(timestamptz),
  },
  { id: int8, created_at: timestamptz },
)`
  insert into millrace.token (name, hash, role, limit_to, limit_name, created_by, expires_at)
  values (${'name'}, ${'hash'}, ${'role'}, ${'limit_to'}, ${'limit_name'}, ${'actor'}, ${'expires_at'})
  on conflict (name) where revoked_at is null do nothing
  returning id, created_at
`

export const findToken = maybe(
  'access.find_token',
  { hash: bytea },
  {
    id: int8,
    name: text,
    role: nullable(role),
    limit_to: nullable(limitTo),
    limit_name: nullable(text),
    is_stale: bool,
  },
)`
  select id,
         name,
         role,
         limit_to,
         limit_name,
         last_used_at is null or last_used_at < now() - interval '1 minute' as is_stale
  from millrace.token
  where hash = ${'hash'}
    and revoked_at is null
    and (expires_at is null or expires_at > now())
`

export const touchToken = run('access.touch_token', { id: int8 })`
  update millrace.token
  set last_used_at = now()
  where id = ${'id'}
    and (last_used_at is null or last_used_at < now() - interval '1 minute')
`

export const selectTokens = many(
  'access.list_tokens',
  { before: nullable(int8), limit: int4 },
  {
    id: int8,
    name: text,
    role: nullable(role),
    limit_to: nullable(limitTo),
    limit_name: nullable(text),
    created_at: timestamptz,
    created_by: text,
    expires_at: nullable(timestamptz),
    revoked_at: nullable(timestamptz),
    revoked_by: nullable(text),
    last_used_at: nullable(timestamptz),
  },
)`
  select id, name, role, limit_to, limit_name, created_at, created_by, expires_at, revoked_at, revoked_by, last_used_at
  from millrace.token
  where ${'before'}::int8 is null or id < ${'before'}
  order by id desc
  limit ${'limit'}::int
`

/** Keeps the first revocation's time; no row: there is no such token. */
export const markRevoked = maybe('access.revoke_token', { id: int8, actor: text }, { id: int8 })`
  update millrace.token
  set revoked_at = coalesce(revoked_at, now()),
      revoked_by = coalesce(revoked_by, ${'actor'})
  where id = ${'id'}
  returning id
`

/** Makes the key unless there is one, and answers the one there is. */
export const makeSigningKey = run('access.make_signing_key', { key: bytea })`
  insert into millrace.signing_key (key)
  values (${'key'})
  on conflict do nothing
`

export const readSigningKey = one('access.read_signing_key', {}, { key: bytea })`
  select key
  from millrace.signing_key
`
