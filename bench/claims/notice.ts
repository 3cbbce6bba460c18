import { setTimeout as sleep } from 'node:timers/promises'
import { makeRepository, performArchives, planned, register } from '../harness/archives.ts'
import { type Claim, figures, freshStore, quantile } from '../harness/bench.ts'
import { startServer } from '../harness/server.ts'

const MEDIAN = 'notice to start, p50'
const TAIL = 'notice to start, p99'
const LIMIT_MS = 50

async function sample(databaseUrl: string, samples: number): Promise<number[]> {
  const repository = await makeRepository(1)
  const server = await startServer(databaseUrl, { MILLRACE_RATE_LIMIT: '0', MILLRACE_POLL_SECONDS: '86400' })
  const starts = new Map<string, (at: number) => void>()
  const stop = await performArchives(databaseUrl, ({ key }) => starts.get(key)?.(performance.now()))
  try {
    await register(server, 'bench', { type: 'svn', url: repository.url }, 1)
    await planned(server, 'bench', 1)
    const found: number[] = []
    for (let rev = 2; rev < samples + 12; rev++) {
      repository.commit(String(rev))
      const started = new Promise<number>((resolve) => starts.set(`${rev}:indexing`, resolve))
      const from = performance.now()
      await server.ask('POST', '/v1/archives/bench/commits', { rev })
      const took = (await started) - from
      // The first few warm the server up.
      if (rev >= 12) found.push(took)
      await sleep(Math.random() * 100)
    }
    return found
  } finally {
    await stop()
    await server.stop()
    repository.remove()
  }
}

export const notice: Claim = {
  name: 'notice',
  about: 'post-commit notice over HTTP → start of the first task of the revision, on an idle server, from Subversion',
  async measure(bench) {
    const found = figures()
    const samples = Math.min(bench.sizes.samples, 100)
    if (bench.takesPart('millrace')) {
      for (let round = 1; round <= bench.rounds; round++) {
        console.log(` round ${round} of ${bench.rounds}`)
        const times = await sample(await freshStore(bench, 'millrace'), samples)
        found.note('millrace', MEDIAN, 'ms', quantile(times, 0.5))
        found.note('millrace', TAIL, 'ms', quantile(times, 0.99))
      }
    }
    const median = found.of('millrace', MEDIAN)
    return {
      claim: `${notice.about} (${samples} commits)`,
      rows: found.rows,
      verdicts: [
        {
          bar: `p50 under ${LIMIT_MS} ms`,
          reached: Number.isNaN(median) ? 'not measured' : `${median.toFixed(1)} ms`,
          held: Number.isNaN(median) ? null : median < LIMIT_MS,
        },
      ],
      notes: ['The revision is read by one `svn log`, whose start is most of the time.'],
    }
  },
}
