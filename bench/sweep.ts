// Tries settings of the peers beside the ones that the bench uses, so that nobody is measured below their best:
//   node --import tsx bench/sweep.ts [rounds] [tasks]
import { join } from 'node:path'
import { install } from './harness/install.ts'

const CANDIDATES: [string, object][] = [
  ['graphile', {}],
  ['graphile', { localQueue: { size: 100 } }],
  ['graphile', { localQueue: { size: 1_000 } }],
  ['graphile', { localQueue: { size: 2_000 }, bulk: 1_000 }],
  ['graphile', { concurrentJobs: 10, bulk: 2_500 }],
  ['graphile', { concurrentJobs: 100, bulk: 50_000 }],
  ['graphile', { completeJobBatchDelay: 5 }],
  ['graphile', { completeJobBatchDelay: 5, localQueue: { size: 1_000 }, concurrentJobs: 100 }],
  ['pg-boss', {}],
  ['pg-boss', { batchSize: 500, bulk: 1_000 }],
  ['pg-boss', { batchSize: 1_000, bulk: 10_000 }],
  ['pg-boss', { priority: false, orderByCreatedOn: false }],
  ['pg-boss', { batchSize: 5_000, bulk: 50_000 }],
  ['pg-boss', { localConcurrency: 1 }],
  ['pg-boss', { localConcurrency: 4 }],
  ['bullmq', {}],
  ['bullmq', { concurrency: 25, bulk: 250 }],
  ['bullmq', { concurrency: 500, bulk: 5_000 }],
]

const folder = import.meta.dirname
const { bin, node } = install(folder, true)
const { compile } = await import('./harness/install.ts')
const { figures, freshStore, figure, median, perSecond } = await import('./harness/bench.ts')
const { performer } = await import('./harness/perform.ts')
const { settle } = await import('./harness/settle.ts')
const { startPostgres, startRedis } = await import('./harness/servers.ts')

const rounds = Number(process.argv[2] ?? 3)
const count = Number(process.argv[3] ?? 50_000)
const perform = performer(node, join(compile(folder)), 600)
const postgres = await startPostgres(bin, undefined)
const redis = await startRedis()
const bench = { rounds, bin, postgres, redis, perform, takesPart: () => true, sizes: {} as never }
const found = figures()
try {
  for (let round = 0; round < rounds; round++) {
    for (const [contender, changes] of CANDIDATES) {
      process.env['MILLRACE_BENCH_TUNING'] = JSON.stringify({ [contender]: changes })
      const name = `${contender} ${JSON.stringify(changes)}`
      const url = await freshStore(bench, contender)
      const added = await perform<number>({ contender, url, operation: 'enqueueBulk', argument: count })
      found.note(name, 'bulk', 'tasks/s', perSecond(count, added.value))
      await settle(bench, url)
      const drained = await perform<number>({ contender, url, operation: 'drain', argument: count })
      found.note(name, 'drain', 'tasks/s', perSecond(count, drained.value))
    }
  }
} finally {
  await redis.stop()
  await postgres.stop()
}
for (const { contender, what, values } of found.rows) {
  console.log(
    `${figure(median(values)).padStart(8)}  ${what.padEnd(6)} ${contender}  (${values.map(figure).join(' ')})`,
  )
}
