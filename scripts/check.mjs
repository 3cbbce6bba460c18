// `npm run check`: everything that can be said of the tree without running it, by name and with its time.
// All checks run even when one fails, so that one round shows all there is to mend.
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { bootstrap, root } from './bootstrap.mjs'
import { run } from './run.mjs'

const bin = (/** @type {string} */ name) => `node_modules/.bin/${name}`
const generated = (/** @type {import('./generated.ts').Generated} */ name) => async () =>
  (await import('./generated.ts')).compareGenerated(name)
const tidy = (/** @type {import('./tidy.ts').Tidy} */ name) => async () =>
  (await import('./tidy.ts')).findUntidy(name, root)

/**
 * A check is a command, or a look of this process's own, which answers the problems: a process for each look would take
 * longer to start than to look.
 * @type {({ name: string, mend?: string } & ({ command: string[] } | { look: () => Promise<string[]> }))[]}
 */
const checks = [
  { name: 'format, lint', command: [bin('biome'), 'check', '--error-on-warnings'], mend: 'npm run fix' },
  { name: 'lint with types', command: [bin('oxlint'), '--type-aware', '--deny-warnings'] },
  { name: 'types', command: [bin('tsc'), '-p', 'tsconfig.json'] },
  { name: 'types of the dashboard', command: [bin('tsc'), '-p', 'web'] },
  { name: 'types of its tests', command: [bin('tsc'), '-p', 'test/e2e'] },
  { name: 'layers', look: async () => (await import('./layers.ts')).findLayerProblems(root) },
  { name: 'dead code', command: [bin('knip'), '--no-progress'] },
  { name: 'states', look: generated('states'), mend: 'npm run states' },
  { name: 'schema', look: generated('schema'), mend: 'npm run schema' },
  { name: 'workflow schema', look: generated('workflow-schema'), mend: 'npm run workflow-schema' },
  { name: 'migrations', look: tidy('migrations') },
  { name: 'marks', look: tidy('marks') },
  { name: 'lock file', look: tidy('lock-file') },
  { name: 'manifests', look: tidy('manifests') },
  { name: 'machine paths', look: tidy('paths') },
  { name: 'links', look: tidy('links') },
]

/** How many run at a time: most of them use one core. */
const AT_ONCE = 2

/** Runs every check, prints one line for each, and answers how many passed and failed, and the names of those. */
export async function check() {
  const { register } = await import('tsx/esm/api') // the looks are written in TypeScript
  register()
  const width = Math.max(...checks.map(({ name }) => name.length))
  const counts = { passed: 0, failed: 0, failures: /** @type {string[]} */ ([]) }
  const left = [...checks]
  const runNext = async () => {
    for (let one = left.shift(); one !== undefined; one = left.shift()) {
      const { name, mend } = one
      const { status, output, seconds } = 'look' in one ? await timed(one.look) : await run(one.command)
      const isGood = status === 0
      counts[isGood ? 'passed' : 'failed'] += 1
      console.log(`${isGood ? '✓' : '✗'} ${name.padEnd(width)}  ${seconds.toFixed(1).padStart(5)} s`)
      if (isGood) continue
      counts.failures.push(`check: ${name}`)
      console.log(`${output.trim().replace(/^/gm, '    ')}${mend ? `\n    mend it: ${mend}` : ''}`)
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, runNext))
  return counts
}

/** Looks, and answers as `run` does. @param {() => Promise<string[]>} look */
async function timed(look) {
  const started = performance.now()
  const problems = await look().catch((error) => [String(error.stack)])
  return { status: problems.length, output: problems.join('\n'), seconds: (performance.now() - started) / 1000 }
}

if (process.argv[1] && resolve(process.argv[1]) === fileURLToPath(import.meta.url)) {
  bootstrap()
  const { passed, failed } = await check()
  console.log(`${passed} passed, ${failed} failed`)
  process.exitCode = failed === 0 ? 0 : 1
}
