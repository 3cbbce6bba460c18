import { expect, test } from 'vitest'
import { createPool } from '../../src/db/index.ts'
import { connect } from '../../src/engine/index.ts'
import {
  bench,
  count,
  expectExactlyOnce,
  kill,
  lookAt,
  randomGraph,
  startDispatcher,
  untilFinished,
  untilState,
} from './kit.ts'
import { bouncerTo } from './pgbouncer.ts'

function poolOf(databaseUrl: string) {
  const pool = createPool({ databaseUrl })
  return { pool, [Symbol.asyncDispose]: () => pool.end() }
}

// A cancel that had to wait for a heartbeat would come no sooner than after a third of this.
const LEASE_SECONDS = 60

test('everything works through a pooler in transaction mode, by polling alone', async () => {
  await using at = await bench()
  await using bouncer = await bouncerTo(at.databaseUrl)
  const start = (isHolding: boolean, kinds: string[]) =>
    startDispatcher(bouncer.databaseUrl, { leaseSeconds: LEASE_SECONDS, isHolding, kinds })
  await using first = await start(false, ['crash.graph', 'crash.hold'])
  await using second = await start(true, ['crash.graph', 'crash.obedient', 'crash.plain'])
  const millrace = await lookAt(bouncer.databaseUrl)
  try {
    const added = await millrace.addMany(randomGraph(400))
    const last = await millrace.add('crash.hold', {}, { requires: added.slice(0, 50).map((task) => task.id) })
    await untilState(millrace, last.id, 'succeeded')
    await untilFinished(at.pool)
    await expectExactlyOnce(at.pool)

    const canceled = await millrace.add('crash.obedient', {})
    await second.line(new RegExp(`^begun ${canceled.id}$`))
    const asked = Date.now()
    await millrace.cancel(canceled.id)
    await untilState(millrace, canceled.id, 'canceled')
    expect(Date.now() - asked).toBeLessThan((LEASE_SECONDS / 3) * 1000)

    const delayed = await millrace.add('crash.hold', {}, { delaySeconds: 0.3 })
    await untilState(millrace, delayed.id, 'succeeded')
    expect(await millrace.verify()).toEqual([])
    // The sessions belong to all clients of the pooler.
    await using through = poolOf(bouncer.databaseUrl)
    for (const name of ['statement_timeout', 'idle_in_transaction_session_timeout'])
      expect((await through.pool.query(`show ${name}`)).rows).toEqual([{ [name]: '0' }])
  } finally {
    await millrace.close()
  }
  first.child.kill('SIGTERM')
  expect(await first.exitCode).toBe(0)
  for (const dispatcher of [first, second]) {
    expect(dispatcher.stdout()).not.toMatch(/^error/m)
    expect(dispatcher.stderr()).toBe('')
  }
})

test('a default isolation that cannot be changed through a pooler is refused, with the remedy', async () => {
  await using at = await bench()
  const name = new URL(at.databaseUrl).pathname.slice(1)
  await at.pool.query(`alter database ${name} set default_transaction_isolation = 'serializable'`)
  await using bouncer = await bouncerTo(at.databaseUrl)
  await expect(connect({ databaseUrl: bouncer.databaseUrl })).rejects.toMatchObject({
    code: 'isolation_refused',
    message: expect.stringContaining('SERIALIZABLE by default'),
    remedy: expect.stringContaining('alter role'),
  })
})

test('a listener that hears nothing is known as such, and does not connect again and again', async () => {
  await using at = await bench()
  await using bouncer = await bouncerTo(at.databaseUrl)
  await using dispatcher = await startDispatcher(bouncer.databaseUrl, { leaseSeconds: LEASE_SECONDS })
  const polls = async () =>
    (
      (await at.pool.query(`select xact_commit::int as n from pg_stat_database where datname = current_database()`))
        .rows[0] as { n: number }
    ).n
  const [before, from] = [await polls(), performance.now()]
  await new Promise((resolve) => setTimeout(resolve, 3000))
  const made = (await polls()) - before
  // At the most four looks a second, a look for cancels, expired leases and the statistics themselves.
  expect(made).toBeLessThan((20 * (performance.now() - from)) / 1000)
  expect(await count(at.pool, `pg_stat_activity where datname = current_database()`)).toBeLessThan(20)
  const { id } = await at.millrace.add('crash.hold', {})
  await untilState(at.millrace, id, 'succeeded')
  await kill(dispatcher)
})

test('a pooler whose connections to the server are ended under load ends no dispatcher', async () => {
  await using at = await bench()
  await using bouncer = await bouncerTo(at.databaseUrl)
  await using dispatcher = await startDispatcher(bouncer.databaseUrl, { leaseSeconds: 2 })
  for (let round = 0; round < 10; round += 1) {
    await at.millrace.addMany(randomGraph(30))
    await at.pool.query(
      `select pg_terminate_backend(pid) from pg_stat_activity
       where datname = current_database() and application_name = 'millrace dispatch'
       order by random() limit 2`,
    )
  }
  await untilFinished(at.pool)
  await expectExactlyOnce(at.pool)
  expect(dispatcher.stderr()).toBe('')
})
