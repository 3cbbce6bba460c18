import { makeRepositories, NO_POLLING, PLANS_ONLY, performArchives, register } from '../harness/archives.ts'
import { type Claim, figures, freshStore, quantile, ratioBar } from '../harness/bench.ts'
import { startServer } from '../harness/server.ts'

const HALF = 'start, p50'
const TAIL = 'start, p99'
const ALL = 'until the last has started'
const AT_ONCE = 20
const RATIO = 2

async function run(databaseUrl: string, count: number): Promise<number[]> {
  const repositories = await makeRepositories(count)
  const server = await startServer(databaseUrl, { ...PLANS_ONLY, ...NO_POLLING })
  const started: number[] = []
  let onAll = () => {}
  const stop = await performArchives(databaseUrl, ({ key }) => {
    if (key === '2:indexing' && started.push(performance.now()) === count) onAll()
  })
  try {
    const numbers = repositories.urls.map((_, i) => i)
    await atOnce(numbers, (i) => register(server, `bench-${i}`, { type: 'svn', url: repositories.urls[i] }, 'head'))
    const all = new Promise<void>((resolve) => {
      onAll = resolve
    })
    const from = performance.now()
    repositories.commitToAll()
    await atOnce(numbers, (i) => server.ask('POST', `/v1/archives/bench-${i}/commits`, { rev: 2 }))
    await all
    return started.map((at) => at - from)
  } finally {
    await stop()
    await server.stop()
    repositories.remove()
  }
}

async function atOnce(numbers: readonly number[], act: (i: number) => Promise<unknown>): Promise<void> {
  const rest = [...numbers]
  const lane = async () => {
    for (let i = rest.pop(); i !== undefined; i = rest.pop()) await act(i)
  }
  await Promise.all(Array.from({ length: AT_ONCE }, lane))
}

export const archives: Claim = {
  name: 'archives',
  about: 'a commit to each of many archives at once → the first task of every one has started',
  async measure(bench) {
    const found = figures()
    const count = bench.sizes.archives
    if (bench.takesPart('millrace')) {
      for (let round = 1; round <= bench.rounds; round++) {
        console.log(` round ${round} of ${bench.rounds}`)
        const times = await run(await freshStore(bench, 'millrace'), count)
        found.note('millrace', HALF, 's', quantile(times, 0.5) / 1000)
        found.note('millrace', TAIL, 's', quantile(times, 0.99) / 1000)
        found.note('millrace', ALL, 's', Math.max(...times) / 1000)
      }
    }
    const last = found.of('millrace', ALL)
    const most = count * 0.06
    const ratio = found.of('millrace', TAIL) / found.of('millrace', HALF)
    return {
      claim: `${archives.about} (${count.toLocaleString('en-US')} archives, each with a repository of its own)`,
      rows: found.rows,
      verdicts: [
        ratioBar(`no archive waits for another: p99 of the start < ${RATIO} x p50`, ratio, { atMost: RATIO }),
        {
          bar: `all have started within ${most.toFixed(0)} s: 60 ms for each`,
          reached: Number.isNaN(last) ? 'not measured' : `${last.toFixed(1)} s`,
          held: Number.isNaN(last) ? null : last < most,
        },
      ],
      notes: [
        'Times count from the moment of all commits. Every archive starts an `svn` of its own: their processor time is the limit, and one after another they begin at an even pace, whose p99 is 1.98 x its p50.',
      ],
    }
  },
}
