import { beforeAll, describe, expect, test } from 'vitest'
import { aTaskServer, type TaskServer, useTaskServer } from '../../test/task-server.ts'

const attentionOf = async (server: TaskServer) => (await server.ask('GET', '/v1/attention')).json.items

test('what needs attention is told, the most urgent first, with what helps', async () => {
  await using server = await aTaskServer()
  expect(await attentionOf(server)).toEqual([])
  for (const rev of [1, 2, 3]) await server.add({ payload: 'broken', scope: 'archive:Book', key: `${rev}:index` })
  await server.add({ payload: 'broken' })
  await server.perform()
  const waiting = await server.add()
  const held = await server.add()
  await server.ask('POST', `/v1/tasks/${held}/hold`)
  const items = await attentionOf(server)
  expect(items.map(({ code, count }: { code: string; count: number }) => [code, count]).sort()).toEqual([
    ['no_worker', 1],
    ['task_failed', 1],
    ['task_failed', 3],
    ['tasks_held', 1],
  ])
  const grouped = items.find(({ count }: { count: number }) => count === 3)
  expect(grouped).toMatchObject({
    severity: 'critical',
    scope: 'archive:Book',
    key: '3:index',
    action: 'tasks.retry',
    sentence: 'Book@3:index failed, and 2 like it: it is broken',
  })
  expect(items.find(({ code }: { code: string }) => code === 'no_worker')).toMatchObject({ task: waiting })
  expect(items.at(-1)).toMatchObject({ code: 'tasks_held', severity: 'notice', task: held, action: 'tasks.release' })
})

test('failed deliveries hide no failed task', async () => {
  await using server = await aTaskServer()
  await server.add({ payload: 'broken', scope: 'hidden' })
  await server.perform()
  const deliveries = Array.from({ length: 600 }, () => server.add({ scope: 'webhook:1' }))
  const ids = await Promise.all(deliveries)
  const { pool } = server.database
  await pool.query('delete from millrace.live where id = any($1)', [ids])
  await pool.query(
    `insert into millrace.done (id, ready_at, started_at, finished_at, epoch, state)
     select id, now(), now(), now(), 1, 'failed' from unnest($1::bigint[]) asked(id)`,
    [ids],
  )
  expect(await attentionOf(server)).toMatchObject([{ code: 'task_failed', scope: 'hidden', count: 1 }])
})

test('a gap in what is announced, a held archive and a dead worker need attention', async () => {
  await using server = await aTaskServer()
  await server.ask('PUT', '/v1/archives/Gap', { body: { source: { type: 'push' }, from: 1 } })
  await server.ask('POST', '/v1/archives/Gap/commits', { body: { rev: 4, tasks: [] } })
  await server.ask('PUT', '/v1/archives/Held', { body: { source: { type: 'push' } } })
  await server.ask('POST', '/v1/archives/Held/hold')
  // As `expire` leaves it, which looks for its tasks once more a lease later.
  await server.database.pool.query(
    `insert into millrace.dispatcher (name, lease_seconds, expires_at, dead_at)
     values ('gone', 30, now() + interval '30 s', now())`,
  )
  const items = await attentionOf(server)
  expect(items).toEqual([
    expect.objectContaining({
      code: 'revision_gap',
      archive: 'Gap',
      revision: 1,
      count: 3,
      action: 'archives.commit',
      sentence: 'revisions 1 to 3 of Gap were not announced, and revision 4 waits for them',
    }),
    expect.objectContaining({ code: 'worker_died', worker: expect.any(Number) }),
    expect.objectContaining({ code: 'archive_held', archive: 'Held', action: 'archives.release' }),
  ])
})

const server = useTaskServer()

test('lines tell what is ready, and who waits the longest', async () => {
  expect((await server.ask('GET', '/v1/lines')).json.items).toEqual([])
  await server.add({ queue: 'late', scope: 'a', key: 'newer' })
  const first = await server.add({ scope: 'b', key: 'oldest' })
  await server.add()
  await server.database.pool.query(`update millrace.live set ready_at = now() - interval '1 hour' where id = $1`, [
    first,
  ])
  const { items } = (await server.ask('GET', '/v1/lines')).json
  expect(items).toMatchObject([
    { queue: 'default', waiting: 2, is_exact: true, workers: 0, first: { id: first, scope: 'b', key: 'oldest' } },
    { queue: 'late', waiting: 1, first: { key: 'newer' } },
  ])
})

test('throughput counts what ended in each part of a time, and how long it took', async () => {
  const { pool } = server.database
  // Twelve an hour ago, one of them failed; two canceled before they began.
  await pool.query(
    `insert into millrace.done (id, ready_at, started_at, finished_at, epoch, state)
     select n, t, t + interval '2 s', t + interval '5 s', 1, case n when 1 then 'failed' else 'succeeded' end::millrace.state
     from generate_series(1, 12) n cross join (values (timestamptz '2026-01-01 10:30Z')) at(t)`,
  )
  await pool.query(
    `insert into millrace.done (id, finished_at, epoch, state, prior)
     select n, '2026-01-01 10:50Z', 0, 'canceled', 'waiting' from generate_series(20, 21) n`,
  )
  const window = 'since=2026-01-01T10:00:00Z&until=2026-01-01T11:00:00Z'
  const { json } = await server.ask('GET', `/v1/throughput?${window}&buckets=6`)
  expect(json).toMatchObject({ succeeded: 11, failed: 1, canceled: 2, skipped: 0, is_complete: true })
  expect(json.items.length).toBe(6)
  expect(json.items[3]).toMatchObject({
    since: '2026-01-01T10:30:00.000Z',
    succeeded: 11,
    failed: 1,
    is_exact: true,
    wait_ms: { p50: 2000, p95: 2000 },
    run_ms: { p50: 3000, p95: 3000 },
  })
  expect(json.items[4]).toMatchObject({ canceled: 2, wait_ms: null, run_ms: null })
  expect(json.wait_ms).toEqual({ p50: 2000, p90: 2000, p95: 2000 })
  const refused = await server.ask('GET', '/v1/throughput?since=2026-01-01T10:00:00Z&until=2026-01-01T09:00:00Z')
  expect([refused.status, refused.json.code]).toEqual([400, 'invalid'])
})

describe('where very much has ended', () => {
  beforeAll(async () => {
    await server.database.pool.query(
      `insert into millrace.done (id, ready_at, started_at, finished_at, epoch, state)
     select n, t, t, t, 1, 'succeeded'
     from generate_series(1001, 61000) n
       cross join lateral (values (timestamptz '2026-02-01 10:00Z' + make_interval(secs => (n - 1000) * 0.01))) at(t)`,
    )
  })

  test('counts are estimated, and say so', async () => {
    const window = 'since=2026-02-01T10:00:00Z&until=2026-02-01T10:10:00Z'
    const { json } = await server.ask('GET', `/v1/throughput?${window}&buckets=2`)
    expect(json.items.some(({ is_exact: isExact }: { is_exact: boolean }) => !isExact)).toBe(true)
    expect(json.succeeded).toBeGreaterThan(55_000)
    expect(json.succeeded).toBeLessThan(65_000)
  })

  test('behind a moment in which nothing ended, much is not read at once', async () => {
    const window = 'since=2026-02-01T10:00:00Z&until=2026-02-01T10:10:08Z'
    const { json } = await server.ask('GET', `/v1/throughput?${window}&buckets=1`)
    expect(json.items[0].is_exact).toBe(false)
    expect(json.succeeded).toBeGreaterThan(25_000)
  })
})
