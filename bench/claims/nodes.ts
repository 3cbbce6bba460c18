import { spawn } from 'node:child_process'
import { type Claim, figures, freshStore, perSecond, ratioBar } from '../harness/bench.ts'
import { startServer } from '../harness/server.ts'

const RATE = 'commands'
const CONCURRENCY = 8

/** A loop that does nothing but start `true` and wait for its end, output piped as a runner must. */
async function bareLoop(count: number): Promise<number> {
  const from = performance.now()
  let left = count
  const lane = async () => {
    while (left-- > 0) {
      await new Promise<void>((resolve, reject) => {
        const child = spawn('true', [], { stdio: ['ignore', 'pipe', 'pipe'], detached: true })
        child.stdout.resume()
        child.stderr.resume()
        child.once('error', reject)
        child.once('close', () => resolve())
      })
    }
  }
  await Promise.all(Array.from({ length: CONCURRENCY }, lane))
  return perSecond(count, performance.now() - from)
}

/** Nodes added in one request to a running server, until the server says that the last has ended. */
async function throughServer(databaseUrl: string, count: number): Promise<number> {
  const server = await startServer(databaseUrl, { MILLRACE_CONCURRENCY: String(CONCURRENCY) })
  try {
    const add = (n: number) =>
      server.ask<{ id: string }[]>(
        'POST',
        '/v1/nodes',
        Array.from({ length: n }, () => ({ metadata: { type: 'command', parent: 'root' }, data: { command: 'true' } })),
      )
    const wait = async (nodes: readonly { id: string }[]) => {
      for (let i = 0; i < nodes.length; i += 100) {
        const ids = nodes.slice(i, i + 100).map(({ id }) => id)
        await server.ask('GET', `/v1/scheduler/wait?id=${ids.join(',')}`)
      }
    }
    await wait(await add(50))
    const from = performance.now()
    await wait(await add(count))
    return perSecond(count, performance.now() - from)
  } finally {
    await server.stop()
  }
}

export const nodes: Claim = {
  name: 'nodes',
  about: '`true` as a node of the tree API, added over HTTP, against a bare loop that spawns it',
  async measure(bench) {
    const found = figures()
    const count = bench.sizes.nodes
    if (bench.takesPart('millrace')) {
      for (let round = 1; round <= bench.rounds; round++) {
        console.log(` round ${round} of ${bench.rounds}`)
        found.note('bare loop', RATE, 'commands/s', await bareLoop(count))
        const url = await freshStore(bench, 'millrace')
        found.note('millrace', RATE, 'commands/s', await throughServer(url, count))
      }
    }
    return {
      claim: `${nodes.about} (${count} commands, ${CONCURRENCY} at once)`,
      rows: found.rows,
      verdicts: [
        ratioBar('>= 0.5 x the bare loop', found.of('millrace', RATE) / found.of('bare loop', RATE), { atLeast: 0.5 }),
      ],
      notes: ['The bare loop keeps nothing: no output, no history, no answer for anyone.'],
    }
  },
}
