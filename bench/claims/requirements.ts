import { type Claim, figures, freshStore, ratioBar, type Verdict } from '../harness/bench.ts'
import { settle } from '../harness/settle.ts'

export const requirements: Claim = {
  name: 'requirements',
  about: 'very many requirements on one task, two dispatchers: time linear, no deadlock',
  async measure(bench) {
    const found = figures()
    const sizes = bench.sizes.requirements
    const what = (size: number) => `per requirement, ${size.toLocaleString('en-US')} of them`
    let deadlocks = 0
    for (let round = 1; round <= bench.rounds && bench.takesPart('millrace'); round++) {
      console.log(` round ${round} of ${bench.rounds}`)
      for (const size of sizes) {
        const url = await freshStore(bench, 'millrace')
        await settle(bench, url)
        const request = { contender: 'millrace', url, operation: 'requirements', argument: size } as const
        const { value } = await bench.perform<number>(request)
        found.note('millrace', what(size), 'µs', (value / size) * 1000)
        deadlocks += await countDeadlocks(bench.postgres.query)
      }
    }
    const growth = found.of('millrace', what(sizes.at(-1) ?? 0)) / found.of('millrace', what(sizes[0] ?? 0))
    const noDeadlock: Verdict = {
      bar: 'no deadlock',
      reached: Number.isNaN(growth) ? 'not measured' : `${deadlocks} seen by the server`,
      held: Number.isNaN(growth) ? null : deadlocks === 0,
    }
    return {
      claim: requirements.about,
      rows: found.rows,
      verdicts: [ratioBar('largest <= 1.3 x the smallest, per requirement', growth, { atMost: 1.3 }), noDeadlock],
      notes: ['The time runs from the first start of a requirement to the start of the task that waits for all.'],
    }
  },
}

async function countDeadlocks(query: (sql: string) => Promise<Record<string, unknown>[]>): Promise<number> {
  const rows = await query("select deadlocks::int as seen from pg_stat_database where datname = 'bench_millrace'")
  return Number(rows[0]?.['seen'] ?? 0)
}
