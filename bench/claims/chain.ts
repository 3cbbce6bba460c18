import { type Claim, figures, freshStore, least, mean, quantile, ratioBar } from '../harness/bench.ts'
import { floorHop } from '../harness/floor.ts'

const MEAN = 'hop, mean'
const MEDIAN = 'hop, p50'
const TAIL = 'hop, p99'

export const chain: Claim = {
  name: 'chain',
  about: 'a chain of tasks, each waiting for the one before: time from start to start',
  async measure(bench) {
    const found = figures()
    for (let round = 1; round <= bench.rounds; round++) {
      console.log(` round ${round} of ${bench.rounds}`)
      found.note('raw SQL', MEAN, 'ms', await floorHop(bench))
      for (const contender of ['bullmq', 'dbos-workflows', 'dbos-steps', 'millrace'].filter(bench.takesPart)) {
        const url = await freshStore(bench, contender)
        const argument = bench.sizes.chain
        const { value } = await bench.perform<number[]>({ contender, url, operation: 'chain', argument })
        found.note(contender, MEAN, 'ms', mean(value))
        found.note(contender, MEDIAN, 'ms', quantile(value, 0.5))
        found.note(contender, TAIL, 'ms', quantile(value, 0.99))
      }
    }
    const ours = found.of('millrace', MEAN)
    const dbos = least([found.of('dbos-workflows', MEAN), found.of('dbos-steps', MEAN)])
    const tail = found.of('millrace', TAIL)
    return {
      claim: `${chain.about} (${bench.sizes.chain} tasks)`,
      rows: found.rows,
      verdicts: [
        ratioBar('mean hop <= 1.2 x BullMQ on Redis', ours / found.of('bullmq', MEAN), { atMost: 1.2 }),
        ratioBar('mean hop <= 0.5 x the faster form of DBOS', ours / dbos, { atMost: 0.5 }),
        {
          bar: 'p99 under 10 ms',
          reached: Number.isNaN(tail) ? 'not measured' : `${tail.toFixed(2)} ms`,
          held: Number.isNaN(tail) ? null : tail < 10,
        },
      ],
      notes: [
        'DBOS steps are calls inside one workflow: nothing is dispatched and no other process can take them up.',
        'Its child workflows are the nearer relatives of a task; the bar is against whichever is faster.',
        'Graphile Worker has no dependencies; pg-boss resolves them every five seconds.',
        `Raw SQL is one statement that removes a row and changes the next, asked by pgbench and committed: ${((100 * found.of('raw SQL', MEAN)) / ours).toFixed(0)} % of a hop of Millrace. Redis does not wait for its disk.`,
      ],
    }
  },
}
