import { type Bench, type Claim, figures, freshStore, perSecond, ratioBar } from '../harness/bench.ts'
import { floorRate } from '../harness/floor.ts'
import { settle } from '../harness/settle.ts'

const RATE = 'drain'
const EDGES = 'drain, one edge each'
const MEMORY = 'peak memory'

type Figures = ReturnType<typeof figures>

async function drainOnce(bench: Bench, found: Figures, contender: string): Promise<void> {
  const count = bench.sizes.drain
  const url = await freshStore(bench, contender)
  await bench.perform({ contender, url, operation: 'enqueueBulk', argument: count })
  await settle(bench, url)
  const drained = await bench.perform<number>({ contender, url, operation: 'drain', argument: count })
  found.note(contender, RATE, 'tasks/s', perSecond(count, drained.value))
  if (drained.peakMb !== null) found.note(contender, MEMORY, 'MB', drained.peakMb)
}

async function drainEdges(bench: Bench, found: Figures): Promise<void> {
  const contender = 'millrace'
  const count = bench.sizes.drain
  const url = await freshStore(bench, contender)
  await bench.perform({ contender, url, operation: 'enqueueEdges', argument: count })
  await settle(bench, url)
  const drained = await bench.perform<number>({ contender, url, operation: 'drain', argument: count })
  found.note(contender, EDGES, 'tasks/s', perSecond(count, drained.value))
}

export const drain: Claim = {
  name: 'drain',
  about: 'drain no-op tasks, history and events kept; the same with one edge each; memory of the dispatcher',
  async measure(bench) {
    const found = figures()
    for (let round = 1; round <= bench.rounds; round++) {
      console.log(` round ${round} of ${bench.rounds}`)
      found.note('raw SQL', RATE, 'tasks/s', await floorRate(bench))
      for (const contender of ['graphile', 'pg-boss', 'millrace', 'bullmq'].filter(bench.takesPart)) {
        await drainOnce(bench, found, contender)
      }
      if (bench.takesPart('millrace')) await drainEdges(bench, found)
    }
    const rate = found.of('millrace', RATE)
    const share = (contender: string) => (100 * found.of(contender, RATE)) / found.of('raw SQL', RATE)
    return {
      claim: `${drain.about} (${bench.sizes.drain.toLocaleString('en-US')} tasks)`,
      rows: found.rows,
      verdicts: [
        ratioBar('drain >= 1.0 x Graphile Worker', rate / found.of('graphile', RATE), { atLeast: 1 }),
        ratioBar('drain >= 1.5 x pg-boss', rate / found.of('pg-boss', RATE), { atLeast: 1.5 }),
        ratioBar('drain with edges >= 0.6 x without', found.of('millrace', EDGES) / rate, { atLeast: 0.6 }),
        ratioBar('peak memory <= Graphile Worker', found.of('millrace', MEMORY) / found.of('graphile', MEMORY), {
          atMost: 1,
        }),
      ],
      notes: [
        `Share of the raw SQL limit: ${['graphile', 'pg-boss', 'millrace']
          .map(
            (contender) => `${contender} ${Number.isNaN(share(contender)) ? '–' : `${share(contender).toFixed(0)} %`}`,
          )
          .join(', ')}.`,
        'Graphile Worker deletes finished jobs and raw SQL its rows; pg-boss, BullMQ and Millrace keep them.',
      ],
    }
  },
}
