import { gzipSync } from 'node:zlib'
import { PLANS_ONLY, planned, register } from '../harness/archives.ts'
import { type Claim, figures, freshStore, quantile } from '../harness/bench.ts'
import { type Server, startServer } from '../harness/server.ts'

const ROWS = 100
const COLUMNS = 50
const MIDDLE = 'answer, p50'
const TAIL = 'answer, p99'
const SIZE = 'answer, compressed'
const LIMIT_MS = 50
const LIMIT_KB = 50

/** Each task waits for itself in the revision before and for the one beside it. */
const tasks = Array.from({ length: COLUMNS - 1 }, (_, i) => ({
  name: `task-${i}`,
  command: 'make',
  depends: i === 0 ? ['PREV'] : ['PREV', `task-${i - 1}`],
}))

export async function fillLoom(server: Server, revisions: number): Promise<void> {
  await register(server, 'bench', { type: 'push' }, 1)
  for (let rev = 1; rev <= revisions; rev++)
    await server.ask('POST', '/v1/archives/bench/commits', { rev, tasks, author: 'ada', message: `revision ${rev}` })
  await planned(server, 'bench', revisions)
}

async function look(databaseUrl: string, samples: number, revisions: number) {
  const server = await startServer(databaseUrl, PLANS_ONLY)
  try {
    await fillLoom(server, revisions)
    const path = `/v1/archives/bench/loom?limit=${ROWS}`
    const text = JSON.stringify(await server.ask('GET', path))
    const times: number[] = []
    for (let i = 0; i < samples + 10; i++) {
      const from = performance.now()
      await server.ask('GET', path)
      if (i >= 10) times.push(performance.now() - from)
    }
    return { times, kilobytes: gzipSync(text).length / 1024 }
  } finally {
    await server.stop()
  }
}

export const loom: Claim = {
  name: 'loom',
  about: `the picture of an archive: ${ROWS} revisions by ${COLUMNS} tasks, with their edges`,
  async measure(bench) {
    const found = figures()
    const samples = Math.min(bench.sizes.samples, 100)
    if (bench.takesPart('millrace')) {
      for (let round = 1; round <= bench.rounds; round++) {
        console.log(` round ${round} of ${bench.rounds}`)
        const { times, kilobytes } = await look(await freshStore(bench, 'millrace'), samples, 4 * ROWS)
        found.note('millrace', MIDDLE, 'ms', quantile(times, 0.5))
        found.note('millrace', TAIL, 'ms', quantile(times, 0.99))
        found.note('millrace', SIZE, 'KB', kilobytes)
      }
    }
    const [middle, size] = [found.of('millrace', MIDDLE), found.of('millrace', SIZE)]
    const isMeasured = !Number.isNaN(middle)
    return {
      claim: `${loom.about} (${samples} requests over HTTP)`,
      rows: found.rows,
      verdicts: [
        {
          bar: `p50 under ${LIMIT_MS} ms`,
          reached: isMeasured ? `${middle.toFixed(1)} ms` : 'not measured',
          held: isMeasured ? middle < LIMIT_MS : null,
        },
        {
          bar: `at most ${LIMIT_KB} KB compressed`,
          reached: isMeasured ? `${size.toFixed(1)} KB` : 'not measured',
          held: isMeasured ? size <= LIMIT_KB : null,
        },
      ],
      notes: [],
    }
  },
}
