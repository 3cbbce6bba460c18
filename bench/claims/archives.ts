import { makeRepository, performArchives, register } from '../harness/archives.ts'
import { type Claim, figures, freshStore, quantile } from '../harness/bench.ts'
import { startServer } from '../harness/server.ts'

const ALL = 'until the last has started'
const HALF = 'until half have started'
const AT_ONCE = 20

async function run(databaseUrl: string, count: number): Promise<number[]> {
  const repository = await makeRepository(1)
  const server = await startServer(databaseUrl, { MILLRACE_RATE_LIMIT: '0', MILLRACE_POLL_SECONDS: '86400' })
  const started: number[] = []
  let onAll = () => {}
  const stop = await performArchives(databaseUrl, ({ key }) => {
    if (key === '2:indexing' && started.push(performance.now()) === count) onAll()
  })
  try {
    const names = Array.from({ length: count }, (_, i) => `bench-${i}`)
    await atOnce(names, (name) => register(server, name, { type: 'svn', url: repository.url }, 'head'))
    repository.commit('2')
    const all = new Promise<void>((resolve) => {
      onAll = resolve
    })
    const from = performance.now()
    await atOnce(names, (name) => server.ask('POST', `/v1/archives/${name}/commits`, { rev: 2 }))
    await all
    return started.map((at) => at - from)
  } finally {
    await stop()
    await server.stop()
    repository.remove()
  }
}

async function atOnce(names: readonly string[], act: (name: string) => Promise<unknown>): Promise<void> {
  const rest = [...names]
  const lane = async () => {
    for (let name = rest.pop(); name !== undefined; name = rest.pop()) await act(name)
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
        found.note('millrace', ALL, 's', Math.max(...times) / 1000)
      }
    }
    const last = found.of('millrace', ALL)
    const most = count * 0.06
    return {
      claim: `${archives.about} (${count.toLocaleString('en-US')} archives on one repository)`,
      rows: found.rows,
      verdicts: [
        {
          bar: `all have started within ${most.toFixed(0)} s: 60 ms for each`,
          reached: Number.isNaN(last) ? 'not measured' : `${last.toFixed(1)} s`,
          held: Number.isNaN(last) ? null : last < most,
        },
      ],
      notes: ['Every archive starts an `svn` of its own: their processor time is the limit.'],
    }
  },
}
