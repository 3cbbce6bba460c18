import { join } from 'node:path'
import { claims } from '../claims/index.ts'
import type { Bench, Result, Sizes } from './bench.ts'
import { compile } from './install.ts'
import { performer } from './perform.ts'
import { startPostgres, startRedis } from './servers.ts'

const WHOLE: Sizes = {
  drain: 100_000,
  bulk: 100_000,
  singly: 10_000,
  samples: 300,
  chain: 1_000,
  fan: 10_000,
  requirements: [50_000, 100_000, 200_000],
  finished: 5_000_000,
  waiting: 1_000_000,
  stored: 1_000_000,
  snapshotMinutes: 30,
  nodes: 2_000,
  starts: 20,
  streams: 1_000,
  indexed: 100_000,
  backlog: 10_000,
  archives: 1_000,
}

/** For a smoke test: everything is run, and the figures mean nothing. */
const QUICK: Sizes = {
  drain: 10_000,
  bulk: 10_000,
  singly: 1_000,
  samples: 50,
  chain: 100,
  fan: 1_000,
  requirements: [2_000, 4_000, 8_000],
  finished: 50_000,
  waiting: 10_000,
  stored: 50_000,
  snapshotMinutes: 0.25,
  nodes: 50,
  starts: 3,
  streams: 100,
  indexed: 5_000,
  backlog: 500,
  archives: 20,
}

export type Order = {
  folder: string
  bin: string
  node: string
  databaseUrl: string | undefined
  names: string[]
  rounds: number
  isQuick: boolean
  minutes: number | undefined
  without: string[]
}

/** Starts the servers, measures the claims asked for one after another, and stops the servers. */
export async function measure(order: Order) {
  const unknown = order.names.filter((name) => !claims.some((claim) => claim.name === name))
  if (unknown.length > 0)
    throw new Error(`no claim ${unknown.join(', ')}; there are ${claims.map((c) => c.name).join(', ')}`)
  const compiled = compile(order.folder)
  const postgres = await startPostgres(order.bin, order.databaseUrl)
  const redis = await startRedis()
  const sizes = { ...(order.isQuick ? QUICK : WHOLE) }
  if (order.minutes !== undefined) sizes.snapshotMinutes = order.minutes
  const bench: Bench = {
    rounds: order.rounds,
    sizes,
    bin: order.bin,
    postgres,
    redis,
    takesPart: (contender) => !order.without.includes(contender),
    perform: performer(order.node, join(compiled), 600 + sizes.snapshotMinutes * 120),
  }
  const results: Result[] = []
  try {
    for (const claim of claims) {
      if (order.names.length > 0 && !order.names.includes(claim.name)) continue
      console.log(`${claim.name}: ${claim.about}`)
      results.push(await claim.measure(bench))
    }
  } finally {
    await redis.stop()
    await postgres.stop()
  }
  return { results, circumstances: { postgres: postgres.version, redis: redis.version } }
}
