import { type Claim, figures, freshStore, least, quantile, ratioBar } from '../harness/bench.ts'

const MEDIAN = 'add to start, p50'
const TAIL = 'add to start, p99'

export const latency: Claim = {
  name: 'latency',
  about: 'idle latency from the call of add to the start of the handler',
  async measure(bench) {
    const found = figures()
    for (let round = 1; round <= bench.rounds; round++) {
      console.log(` round ${round} of ${bench.rounds}`)
      for (const contender of ['graphile', 'pg-boss', 'millrace', 'bullmq'].filter(bench.takesPart)) {
        const url = await freshStore(bench, contender)
        const { value } = await bench.perform<number[]>({
          contender,
          url,
          operation: 'latency',
          argument: bench.sizes.samples,
        })
        found.note(contender, MEDIAN, 'ms', quantile(value, 0.5))
        found.note(contender, TAIL, 'ms', quantile(value, 0.99))
      }
    }
    const bar = (name: string, what: string) =>
      ratioBar(
        `${name} <= the best Postgres peer`,
        found.of('millrace', what) / least([found.of('graphile', what), found.of('pg-boss', what)]),
        { atMost: 1 },
      )
    return {
      claim: `${latency.about}, ${bench.sizes.samples} samples a round`,
      rows: found.rows,
      verdicts: [bar('p50', MEDIAN), bar('p99', TAIL)],
      notes: [],
    }
  },
}
