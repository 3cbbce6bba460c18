import { type Bench, type Claim, figures, freshStore, perSecond, ratioBar } from '../harness/bench.ts'
import { load } from '../harness/load.ts'
import { settle } from '../harness/settle.ts'

const EMPTY = 'drain, store empty before'
const FULL = 'drain, store full before'

export const history: Claim = {
  name: 'history',
  about: 'drain with millions of finished and waiting tasks in the store, against an empty one',
  async measure(bench) {
    const found = figures()
    if (bench.takesPart('millrace')) {
      const full = await freshStore(bench, 'millrace', '_full')
      load(bench, full, 'preload.sql', { finished: bench.sizes.finished, waiting: bench.sizes.waiting })
      for (let round = 1; round <= bench.rounds; round++) {
        console.log(` round ${round} of ${bench.rounds}`)
        found.note('millrace', EMPTY, 'tasks/s', await drainIn(bench, await freshStore(bench, 'millrace')))
        found.note('millrace', FULL, 'tasks/s', await drainIn(bench, full))
      }
    }
    const { finished, waiting } = bench.sizes
    return {
      claim: `${history.about} (${finished.toLocaleString('en-US')} and ${waiting.toLocaleString('en-US')})`,
      rows: found.rows,
      verdicts: [ratioBar('>= 0.9 x', found.of('millrace', FULL) / found.of('millrace', EMPTY), { atLeast: 0.9 })],
      notes: [],
    }
  },
}

async function drainIn(bench: Bench, url: string): Promise<number> {
  const count = bench.sizes.drain
  await bench.perform({ contender: 'millrace', url, operation: 'enqueueBulk', argument: count })
  await settle(bench, url)
  const { value } = await bench.perform<number>({ contender: 'millrace', url, operation: 'drain', argument: count })
  return perSecond(count, value)
}
