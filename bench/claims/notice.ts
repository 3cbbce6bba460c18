import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { makeRepository, NO_POLLING, planned, register } from '../harness/archives.ts'
import { type Claim, figures, freshStore, quantile } from '../harness/bench.ts'
import { type Server, startServer } from '../harness/server.ts'

const MEDIAN = 'notice to start, p50'
const TAIL = 'notice to start, p99'
const COMMAND = 'notice to the first act of its command, p50'
const LIMIT_MS = 50
const WARM_UP = 10

type Took = { readonly start: number; readonly command: number }

/** Announces a revision and answers how long it took until its task was started, and until its command acted. */
async function announce(server: Server, rev: number, folder: string): Promise<Took> {
  const from = Date.now()
  await server.ask('POST', '/v1/archives/bench/commits', { rev })
  // The file is looked for, not the server asked: that one is to be idle.
  const file = join(folder, String(rev))
  while (!existsSync(file) || readFileSync(file, 'utf8') === '') await sleep(5)
  const command = Number(readFileSync(file, 'utf8')) / 1e6 - from
  const task = await server.ask<{ started_at: string }>('GET', `/v1/tasks/bench@${rev}:first`)
  return { start: Date.parse(task.started_at) - from, command }
}

async function sample(databaseUrl: string, samples: number): Promise<Took[]> {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-bench-'))
  const workflow = `- { name: first, script: 'date +%s%N > "${folder}/$MILLRACE_REVISION"' }\n`
  const repository = await makeRepository(1, workflow)
  const server = await startServer(databaseUrl, { MILLRACE_RATE_LIMIT: '0', ...NO_POLLING })
  try {
    await register(server, 'bench', { type: 'svn', url: repository.url }, 1)
    await planned(server, 'bench', 1)
    const found: Took[] = []
    for (let rev = 2; rev < samples + WARM_UP + 2; rev++) {
      repository.commit(String(rev))
      const took = await announce(server, rev, folder)
      if (rev >= WARM_UP + 2) found.push(took)
      await sleep(Math.random() * 100)
    }
    return found
  } finally {
    await server.stop()
    repository.remove()
    rmSync(folder, { recursive: true, force: true })
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
        const took = await sample(await freshStore(bench, 'millrace'), samples)
        const starts = took.map(({ start }) => start)
        found.note('millrace', MEDIAN, 'ms', quantile(starts, 0.5))
        found.note('millrace', TAIL, 'ms', quantile(starts, 0.99))
        const commands = took.map(({ command }) => command)
        found.note('millrace', COMMAND, 'ms', quantile(commands, 0.5))
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
      notes: [
        'The server plans and performs: the start is the moment at which it took the task, by the clock of the database on the same machine. Until then one `svn log` reads the revision, whose own start is most of the time; after it come the workspace and the process.',
      ],
    }
  },
}
