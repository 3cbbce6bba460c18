import { makeRepository, PLANS_ONLY, planned, register } from '../harness/archives.ts'
import { type Claim, figures, freshStore, perSecond } from '../harness/bench.ts'
import { startServer } from '../harness/server.ts'

const RATE = 'revisions planned'
const LEAST = 500

async function plan(databaseUrl: string, count: number): Promise<number> {
  const repository = await makeRepository(count)
  const server = await startServer(databaseUrl, PLANS_ONLY)
  try {
    const from = performance.now()
    await register(server, 'bench', { type: 'svn', url: repository.url }, 1)
    await planned(server, 'bench', count)
    return perSecond(count, performance.now() - from)
  } finally {
    await server.stop()
    repository.remove()
  }
}

export const backlog: Claim = {
  name: 'backlog',
  about: 'an archive registered with its whole history, until the last revision is planned',
  async measure(bench) {
    const found = figures()
    const count = bench.sizes.backlog
    if (bench.takesPart('millrace')) {
      for (let round = 1; round <= bench.rounds; round++) {
        console.log(` round ${round} of ${bench.rounds}`)
        found.note('millrace', RATE, 'revisions/s', await plan(await freshStore(bench, 'millrace'), count))
      }
    }
    const rate = found.of('millrace', RATE)
    return {
      claim: `${backlog.about} (${count.toLocaleString('en-US')} revisions of Subversion, the document's two tasks in each)`,
      rows: found.rows,
      verdicts: [
        {
          bar: `>= ${LEAST} revisions/s`,
          reached: Number.isNaN(rate) ? 'not measured' : `${Math.round(rate)} revisions/s`,
          held: Number.isNaN(rate) ? null : rate >= LEAST,
        },
      ],
      notes: [
        'Nobody performs the tasks meanwhile, so that every earlier one is unfinished: the worst case for planning.',
      ],
    }
  },
}
