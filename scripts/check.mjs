// `npm run check`: everything that can be said of the tree without running it, by name and with its time.
// All checks run even when one fails, so that one round shows all there is to mend.
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { bootstrap } from './bootstrap.mjs'
import { run } from './run.mjs'

const bin = (/** @type {string} */ name) => `node_modules/.bin/${name}`
const script = (/** @type {string} */ name) => [process.execPath, '--import', 'tsx', `scripts/${name}.ts`]

/** @type {{ name: string, command: string[], mend?: string }[]} */
const checks = [
  { name: 'format, lint', command: [bin('biome'), 'check', '--error-on-warnings'], mend: 'npm run fix' },
  { name: 'lint with types', command: [bin('oxlint'), '--type-aware', '--deny-warnings'] },
  { name: 'types', command: [bin('tsc'), '-p', 'tsconfig.json'] },
  { name: 'types of the dashboard', command: [bin('tsc'), '-p', 'web'] },
  { name: 'types of its tests', command: [bin('tsc'), '-p', 'test/e2e'] },
  { name: 'layers', command: script('layers') },
  { name: 'dead code', command: [bin('knip'), '--no-progress'] },
  { name: 'states', command: [...script('states'), '--check'], mend: 'npm run states' },
  { name: 'schema', command: [...script('schema'), '--check'], mend: 'npm run schema' },
  { name: 'workflow schema', command: [...script('workflow-schema'), '--check'], mend: 'npm run workflow-schema' },
  { name: 'migrations', command: [...script('tidy'), 'migrations'] },
  { name: 'marks', command: [...script('tidy'), 'marks'] },
  { name: 'lock file', command: [...script('tidy'), 'lock-file'] },
  { name: 'manifests', command: [...script('tidy'), 'manifests'] },
  { name: 'machine paths', command: [...script('tidy'), 'paths'] },
  { name: 'links', command: [...script('tidy'), 'links'] },
]

/** How many run at a time: most of them use one core. */
const AT_ONCE = 2

/** Runs every check, prints one line for each, and answers how many passed and failed, and the names of those. */
export async function check() {
  const width = Math.max(...checks.map(({ name }) => name.length))
  const counts = { passed: 0, failed: 0, failures: /** @type {string[]} */ ([]) }
  const left = [...checks]
  const runNext = async () => {
    for (let one = left.shift(); one !== undefined; one = left.shift()) {
      const { name, command, mend } = one
      const { status, output, seconds } = await run(command)
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

if (process.argv[1] && resolve(process.argv[1]) === fileURLToPath(import.meta.url)) {
  bootstrap()
  const { passed, failed } = await check()
  console.log(`${passed} passed, ${failed} failed`)
  process.exitCode = failed === 0 ? 0 : 1
}
