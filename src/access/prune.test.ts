import { expect, test } from 'vitest'
import { database } from '../../test/database.ts'
import { prune } from './prune.ts'

test('what has had its time is deleted, and nothing else', async () => {
  await using db = await database()
  await db.pool.query(`
    insert into millrace.session (hash, name, role, expires_at)
    select sha256(n::text::bytea), 'admin', 'admin', now() + (n - 1500) * interval '1 minute' from generate_series(1, 1600) n;
    insert into millrace.sign_in_link (hash, name, role, created_by, expires_at)
    values ('a', 'admin', 'admin', 'admin', now() - interval '1 s'), ('b', 'admin', 'admin', 'admin', now() + interval '1 h');
    insert into millrace.first_answer (actor, key, fingerprint, status, headers, body, answered_at)
    values ('a', 'old', '', 200, '{}', '', now() - interval '25 h'), ('a', 'new', '', 200, '{}', '', now() - interval '23 h');
    insert into millrace.audit (actor, via, action, subject, request_id, at)
    values ('a', 'token', 'x.old', '{}', '1', now() - interval '31 days'), ('a', 'token', 'x.new', '{}', '1', now() - interval '29 days')
  `)
  const left = async (sql: string) => (await db.pool.query(sql)).rows.map((row) => Object.values(row)[0])
  await prune(db.pool, { auditDays: 0 })
  expect(await left('select action from millrace.audit order by id')).toEqual(['x.old', 'x.new'])
  await prune(db.pool, { auditDays: 30 })
  expect(await left('select action from millrace.audit')).toEqual(['x.new'])
  expect(await left('select count(*)::int from millrace.session where expires_at <= now()')).toEqual([0])
  expect(await left('select count(*)::int from millrace.session')).toEqual([100])
  expect(await left("select convert_from(hash, 'utf8') from millrace.sign_in_link")).toEqual(['b'])
  expect(await left('select key from millrace.first_answer')).toEqual(['new'])
})
