import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { type Claim, figures, median, type Verdict } from '../harness/bench.ts'

const BIN = join(import.meta.dirname, '..', '..', 'dist', 'bin.js')
const MOST_MS = 40

/** Each start is measured beside one of bare Node, so that both meet the same load. */
function startMs(args: readonly string[]): number {
  const from = performance.now()
  const { status } = spawnSync(process.execPath, args, { stdio: 'ignore' })
  if (status !== 0) throw new Error(`${args.join(' ')} ended with ${status}`)
  return performance.now() - from
}

export const cli: Claim = {
  name: 'cli',
  about: 'starting the command line, against bare Node',
  async measure(bench) {
    const found = figures()
    const commands = { 'millrace --help': [BIN, '--help'], 'millrace version': [BIN, 'version'] }
    const over: Record<string, number[]> = {}
    if (bench.takesPart('millrace')) {
      startMs([BIN, '--help']) // what is read from the disk is read before
      for (let round = 1; round <= bench.rounds; round++) {
        console.log(` round ${round} of ${bench.rounds}`)
        const bare: number[] = []
        const own: Record<string, number[]> = {}
        for (let sample = 0; sample < bench.sizes.starts; sample++) {
          bare.push(startMs(['-e', '0']))
          for (const [name, args] of Object.entries(commands)) own[name] = [...(own[name] ?? []), startMs(args)]
        }
        found.note('node', 'node -e 0', 'ms', median(bare))
        for (const [name, times] of Object.entries(own)) {
          found.note('millrace', name, 'ms', median(times))
          over[name] = [...(over[name] ?? []), ...times.map((ms, at) => ms - (bare[at] ?? Number.NaN))]
        }
      }
    }
    return {
      claim: `${cli.about}, ${bench.sizes.starts} starts a round`,
      rows: found.rows,
      verdicts: Object.keys(commands).map((name): Verdict => {
        const more = median(over[name] ?? [])
        const bar = `${name} <= bare Node + ${MOST_MS} ms`
        if (Number.isNaN(more)) return { bar, reached: 'not measured', held: null }
        return { bar, reached: `+ ${more.toFixed(1)} ms`, held: more <= MOST_MS }
      }),
      notes: [],
    }
  },
}
