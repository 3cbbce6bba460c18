import { bool, float8, int8, maybe, named, nullable, one, run, text, timestamptz } from '../db/index.ts'
import type { Role } from './identity.ts'

const bytea = named<Buffer>('bytea')
const role = named<Role>('text')

export const insertLink = one(
  'access.insert_sign_in_link',
  {
    hash: bytea,
    name: text,
    role,
    token: nullable(int8),
    session_until: nullable(timestamptz),
    actor: text,
    seconds: float8,
  },
  { expires_at: timestamptz },
)`
  insert into millrace.sign_in_link (hash, name, role, token, session_until, created_by, expires_at)
  values (
    ${'hash'}, ${'name'}, ${'role'}, ${'token'}, ${'session_until'}, ${'actor'},
    now() + make_interval(secs => ${'seconds'})
  )
  returning expires_at
`

/**
 * Uses a link up, opens its session and leaves the audit's row, in one statement: of two that come at once, one finds the
 * link gone.
 */
export const redeemLink = maybe(
  'access.redeem_sign_in_link',
  { link: bytea, session: bytea, seconds: float8, action: text, request: text },
  { name: text, role, expires_at: timestamptz },
)`
  with used as (
    delete from millrace.sign_in_link
    where hash = ${'link'}
    returning name, role, token, session_until, expires_at
  ),
  opened as (
    insert into millrace.session (hash, name, role, token, expires_at)
    select ${'session'}, used.name, used.role, used.token,
           least(now() + make_interval(secs => ${'seconds'}), used.session_until)
    from used
      left join millrace.token on token.id = used.token
    where used.expires_at > now()
      and token.revoked_at is null
      and (token.expires_at is null or token.expires_at > now())
    returning name, role, expires_at
  ),
  noted as (
    insert into millrace.audit (actor, via, action, subject, request_id, status)
    select name, 'session', ${'action'}, '{}', ${'request'}, 204
    from opened
  )
  select name, role, expires_at
  from opened
`

export const findSession = maybe(
  'access.find_session',
  { hash: bytea },
  { name: text, role, token: nullable(int8), expires_at: timestamptz },
)`
  select session.name, session.role, session.token, session.expires_at
  from millrace.session
    left join millrace.token on token.id = session.token
  where session.hash = ${'hash'}
    and session.expires_at > now()
    and token.revoked_at is null
    and (token.expires_at is null or token.expires_at > now())
`

/**
 * Ends the session, or all of the same name, or all there are; then unused links end, too, those for the name and those that
 * it has handed out.
 */
export const deleteSessions = run('access.end_sessions', {
  hash: bytea,
  name: text,
  everywhere: bool,
  everybody: bool,
})`
  with links as (
    delete from millrace.sign_in_link
    where (${'everywhere'} and (name = ${'name'} or created_by = ${'name'}))
       or ${'everybody'}
  )
  delete from millrace.session
  where hash = ${'hash'}
     or (${'everywhere'} and name = ${'name'})
     or ${'everybody'}
`
