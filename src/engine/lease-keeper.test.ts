import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { proxyTo, type Wiring } from '../../test/crash/proxy.ts'
import { database, type TestDatabase } from '../../test/database.ts'
import { waitFor } from '../../test/processes.ts'
import { heartbeatPool, LeaseKeeper } from './lease-keeper.ts'

const LEASE_SECONDS = 6
const BEAT_MS = (LEASE_SECONDS * 1000) / 3
const PHASES = 10

/** How many seconds of the lease were left whenever it was renewed. */
const RENEWALS = `
  create table public.renewal (holder int not null, seconds_left float8 not null, at timestamptz not null);
  create function public.note_renewal() returns trigger language plpgsql as $$
  begin
    insert into public.renewal
    values (old.id, extract(epoch from old.expires_at - clock_timestamp()), clock_timestamp());
    return null;
  end $$;
  create trigger note_renewal after update of expires_at on millrace.dispatcher
  for each row execute function public.note_renewal()`

type Outage = { readonly ms: number; readonly begin: (proxy: Wiring) => void; readonly end: (proxy: Wiring) => void }

// Each is as long as two thirds of the lease, less the time until a heartbeat has failed and comes again, and less a margin.
const OUTAGES: Readonly<Record<string, Outage>> = {
  'refuses connections': { ms: 2600, begin: (proxy) => proxy.refuse(), end: (proxy) => proxy.flow() },
  'is silent for ever': { ms: 2000, begin: (proxy) => proxy.stall(), end: (proxy) => proxy.strand() },
}

/** Returns the least that was left of the lease at a renewal. */
async function leastLeft(db: TestDatabase, { ms, begin, end }: Outage, phase: number): Promise<number> {
  const proxy = await proxyTo(db.databaseUrl)
  const heartbeat = heartbeatPool(proxy.databaseUrl, LEASE_SECONDS)
  let isLost = false
  const keeper = new LeaseKeeper(
    // All are in touch without it, to take away the leases that ran out.
    { heartbeat, control: db.pool },
    { name: `phase ${phase}`, leaseSeconds: LEASE_SECONDS, maxDeaths: 5, concurrency: 1, retention: {} },
    {
      onLost: () => {
        isLost = true
      },
      onCertain() {},
      onCancel() {},
      onExpired() {},
      onWanted() {},
      reached: () => null,
    },
  )
  await keeper.take([])
  await sleep(BEAT_MS * (1 + phase))
  begin(proxy)
  await sleep(ms)
  end(proxy)
  const { rows } = await db.pool.query('select clock_timestamp() as now')
  const renewed = 'select from public.renewal where holder = $1 and at > $2'
  await waitFor(async () => {
    const { rowCount } = await db.pool.query(renewed, [keeper.holder, rows[0].now])
    return isLost || rowCount !== 0 ? true : undefined
  })
  const least = await db.pool.query('select min(seconds_left) as least from public.renewal where holder = $1', [
    keeper.holder,
  ])
  await keeper.drop(null)
  await proxy[Symbol.asyncDispose]()
  await heartbeat.end()
  return isLost ? 0 : (least.rows[0] as { least: number }).least
}

test('a lease stands after an outage at any phase of its heartbeat', async () => {
  await using db = await database()
  await db.pool.query(RENEWALS)
  const cases = Object.entries(OUTAGES).flatMap(([how, outage]) =>
    Array.from({ length: PHASES }, async (_, i) => {
      const least = await leastLeft(db, outage, i / PHASES)
      return least > 0 ? [] : [`${how} at phase ${i / PHASES}: ${least}`]
    }),
  )
  expect((await Promise.all(cases)).flat()).toEqual([])
})
