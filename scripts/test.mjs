// `npm test`: sets itself up, then runs the checks and every test, and closes with the line `N passed, N failed`. A check
// counts as one test. Nothing is skipped: a test that did not run has failed.
//
//   npm test                  everything, once, on this Node and the embedded PostgreSQL
//   npm run test:quick        the checks and the fast tests: the engine, and what needs no server, repository or browser
//   npm run test:long         what repeats or prolongs: long forms, PostgreSQL 15, Node 24
//   npm test -- FILTER …      only the tests that match, without the checks
//
// A failed test file runs once more, by itself, after all others. What passes then is reported as `unsteady` and counts as
// passed; more than three unsteady tests fail the run.
import { bootstrap } from './bootstrap.mjs'
import { check } from './check.mjs'
import { findLeftBehind, lookAtCheckout } from './left-behind.mjs'
import { installPackages } from './packages.mjs'
import { longPasses, quick, whole } from './passes.mjs'
import { runTests, titleOf } from './run-tests.mjs'
import { sortFailures, tellUnsteady } from './unsteady.mjs'

const SLOWEST = 20

/** @typedef {import('./run-tests.mjs').Failure} Failure */

const words = process.argv.slice(2)
const isQuick = words.includes('--quick')
const isLong = words.includes('--long')
const filters = words.filter((word) => !word.startsWith('--'))
const isWhole = filters.length === 0
bootstrap()
installPackages()

const before = lookAtCheckout()
const passes = isLong ? longPasses() : [isQuick ? quick : whole]
const checked = isWhole && !isLong ? await check() : { passed: 0, failed: 0, failures: [] }
let passed = checked.passed
/** Every failure once more at the end: thousands of lines may have passed since. */
const told = [...checked.failures]
let failed = checked.failed

/** @type {Failure[]} */
const failures = []
/** @type {import('./run-tests.mjs').Timing[]} */
const timings = []
for (const pass of passes) {
  console.log(`\n── ${pass.title}: ${pass.projects.join(', ')}`)
  const outcome = await runTests(pass, isWhole ? (pass.filters ?? []) : filters)
  passed += outcome.passed
  failures.push(...outcome.failures)
  timings.push(...outcome.timings)
}

const sorted = await sortFailures(failures)
// What failed in the second run alone was counted as passed in the first.
passed += failures.filter((failure) => sorted.unsteady.includes(failure)).length
failed += sorted.failed.length
for (const failure of new Set([...failures, ...sorted.unsteady, ...sorted.failed]))
  told.push(`${titleOf(failure)}\n${failure.message}`)
for (const left of findLeftBehind(before)) {
  failed += 1
  told.push(`a test left or changed ${left} in the checkout`)
}
if (sorted.tooMany !== undefined) {
  failed += 1
  told.push(sorted.tooMany)
}

console.log(`\nslowest files (s)`)
for (const { file, seconds } of timings.sort((a, b) => b.seconds - a.seconds).slice(0, SLOWEST))
  console.log(`${seconds.toFixed(1).padStart(7)}  ${file}`)
for (const failure of told) console.log(`\n✗ ${failure}`)
if (sorted.unsteady.length > 0) console.log('')
for (const line of tellUnsteady(sorted.unsteady)) console.log(line)
process.exitCode = failed === 0 ? 0 : 1
console.log(`${passed} passed, ${failed} failed`)
