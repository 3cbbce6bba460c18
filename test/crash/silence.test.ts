import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { database } from '../database.ts'
import { sleeping, speaking } from '../nodes.ts'
import { waitFor } from '../processes.ts'
import { aServer, type Reply } from '../server.ts'
import { count } from './kit.ts'
import { proxyTo, type Wiring } from './proxy.ts'

/** Ten seconds for a connection and ten for the answer; the rest is for a busy machine. */
const LIMIT_MS = 20_000 + 10_000
const REQUESTS = 30

/** Many changing requests at once on connections that are silent, each repeated until it is done. */
async function outage(begin: (proxy: Wiring) => void, end: (proxy: Wiring) => void) {
  await using db = await database()
  await using proxy = await proxyTo(db.databaseUrl)
  await using server = await aServer({
    on: { ...db, databaseUrl: proxy.databaseUrl },
    grace_seconds: 1,
    drain_seconds: 1,
    lease_seconds: 90,
  })
  const { ask } = speaking(() => server)
  const someKeys = () => Array.from({ length: REQUESTS }, () => randomUUID())
  const [keys, laterKeys] = [someKeys(), someKeys()]
  const add = (key: string) => ask('POST', '/v1/nodes', { body: [sleeping(0)], headers: { 'idempotency-key': key } })
  const inTime = (reply: Promise<Reply>) => Promise.race([reply, sleep(LIMIT_MS, undefined)])
  // So that the pools are full of connections that fall silent.
  await Promise.all(someKeys().map(add))
  const before = await count(db.pool, 'millrace.node')

  begin(proxy)
  const asked = keys.map((key) => inTime(add(key)))
  const ready = await fetch(`${server.url}/readyz`)
  const probe = { status: ready.status, detail: ((await ready.json()) as { detail: string }).detail }
  const alive = (await fetch(`${server.url}/livez`)).status
  // The probe has found out.
  const later = await Promise.all(laterKeys.map((key) => inTime(add(key))))
  const first = await Promise.all(asked)
  end(proxy)

  await waitFor(async () => ((await fetch(`${server.url}/readyz`)).status === 200 ? true : undefined))
  const again = await Promise.all([...keys, ...laterKeys].map((key) => inTime(add(key))))
  return { probe, alive, first, later, again, done: (await count(db.pool, 'millrace.node')) - before }
}

test('while connections are silent every request is answered in time, and none is done twice', async () => {
  const [replaced, away] = await Promise.all([
    // As after a failover behind a proxy: new connections reach the new server.
    outage(
      (proxy) => proxy.strand(),
      () => {},
    ),
    outage(
      (proxy) => proxy.stall(),
      (proxy) => proxy.flow(),
    ),
  ])
  for (const { probe, alive, first, later, again, done } of [replaced, away]) {
    expect(probe).toEqual({ status: 503, detail: 'the database does not answer within 2 seconds' })
    expect(alive).toBe(200)
    for (const reply of [...first, ...later]) {
      if (reply?.status === 201) continue
      expect(reply?.json).toMatchObject({ status: 503, code: 'database_late', remedy: expect.any(String) })
      expect(reply?.headers.get('retry-after')).toBe('1')
    }
    expect(again.map((reply) => reply?.status)).toEqual(again.map(() => 201))
    expect(done).toBe(2 * REQUESTS)
  }
  // They waited for the record of the request.
  expect(away.first.map((reply) => reply?.json.detail)).toContain(
    'the database did not answer in time; nothing was changed',
  )
  // Those that came while others waited for a silent connection went on over new ones.
  expect(replaced.later.map((reply) => reply?.status)).toEqual(replaced.later.map(() => 201))
  expect([...away.first, ...away.later].filter((reply) => reply?.status !== 503)).toEqual([])
})
