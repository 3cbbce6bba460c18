import { int4, one } from '../db/index.ts'

/**
 * Deletes up to `limit` rows of what has had its time, of each kind; answers the most it deleted of one kind. Servers that do so
 * at once leave each other's rows alone: in different orders they would wait for each other.
 */
export const pruneAccess = one('access.prune', { audit_days: int4, limit: int4 }, { count: int4 })`
  with sessions as (
    delete from millrace.session
    where hash in (select hash from millrace.session where expires_at <= now() limit ${'limit'}::int for update skip locked)
    returning 1
  ),
  links as (
    delete from millrace.sign_in_link
    where hash in (select hash from millrace.sign_in_link where expires_at <= now() limit ${'limit'}::int for update skip locked)
    returning 1
  ),
  answers as (
    delete from millrace.first_answer
    where (actor, key) in (
      select actor, key
      from millrace.first_answer
      where answered_at <= now() - interval '24 hours'
      limit ${'limit'}::int
      for update skip locked
    )
    returning 1
  ),
  audits as (
    delete from millrace.audit
    where id in (
      select id
      from millrace.audit
      where ${'audit_days'}::int > 0
        and at < now() - make_interval(days => ${'audit_days'}::int)
      limit ${'limit'}::int
      for update skip locked
    )
    returning 1
  )
  select greatest(
    (select count(*) from sessions),
    (select count(*) from links),
    (select count(*) from answers),
    (select count(*) from audits)
  )::int as count
`
