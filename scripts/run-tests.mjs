// Runs the tests of one pass and reads the runner's own report.
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join, relative } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import { root } from './bootstrap.mjs'
import { run } from './run.mjs'

const LINES_OF_FAILURE = 25

/**
 * @typedef {import('./passes.mjs').Pass} Pass
 * @typedef {{ pass: Pass, file: string | undefined, name: string, message: string }} Failure
 *   `file` is undefined where no file can be named. `name` is empty when the whole file failed.
 * @typedef {{ file: string, seconds: number }} Timing
 * @typedef {{ passed: number, failures: Failure[], timings: Timing[] }} Outcome
 * @typedef {{ status: string, fullName: string, failureMessages: string[] }} Result
 * @typedef {{ name: string, status: string, message?: string, startTime: number, endTime: number, assertionResults: Result[] }} FileReport
 */

/** @param {Pass} pass @param {readonly string[]} filters @returns {Promise<Outcome>} */
export async function runTests(pass, filters) {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-report-'))
  const report = join(folder, 'report.json')
  const { projects, node = process.execPath, env = {} } = pass
  const flags = [...projects.flatMap((project) => ['--project', project]), '--reporter=default', '--reporter=json']
  const path = [dirname(node), process.env['PATH']].join(delimiter)
  try {
    const vitest = join('node_modules', 'vitest', 'vitest.mjs')
    const { status, output } = await run([node, vitest, 'run', ...flags, `--outputFile.json=${report}`, ...filters], {
      env: { ...process.env, PATH: path, ...env },
      isShown: true,
    })
    const files = existsSync(report) ? JSON.parse(readFileSync(report, 'utf8')).testResults : []
    const outcome = read(files, pass)
    // An error outside any test, or a runner that died: the report alone would hide it.
    if (status !== 0) outcome.failures.push(...outside(pass, { status, output, isFailed: outcome.failures.length > 0 }))
    if (outcome.passed + outcome.failures.length === 0)
      outcome.failures.push({ pass, file: undefined, name: '', message: '  no test ran' })
    return outcome
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/**
 * A file that could not be loaded counts as one failure; so does each test that did not run.
 * @param {FileReport[]} files @param {Pass} pass @returns {Outcome}
 */
function read(files, pass) {
  /** @type {Outcome} */
  const outcome = { passed: 0, failures: [], timings: [] }
  for (const { name, status, message = '', startTime, endTime, assertionResults } of files) {
    const file = relative(root, name)
    const failed = assertionResults.filter((result) => result.status !== 'passed')
    for (const result of failed) {
      const text = result.status === 'failed' ? brief(result.failureMessages.join('\n')) : '  did not run'
      outcome.failures.push({ pass, file, name: result.fullName, message: text })
    }
    if (failed.length === 0 && status === 'failed')
      outcome.failures.push({ pass, file, name: '', message: brief(message) })
    outcome.passed += assertionResults.length - failed.length
    outcome.timings.push({ file, seconds: (endTime - startTime) / 1000 })
  }
  return outcome
}

/**
 * Errors that no test caught, by the file that the runner names. Where it names none, failed tests explain its status.
 * @param {Pass} pass @param {{ status: number, output: string, isFailed: boolean }} ended @returns {Failure[]}
 */
function outside(pass, { status, output, isFailed }) {
  const message = `  the runner ended with ${status}, outside any test`
  const plain = stripVTControlCharacters(output)
  const files = new Set([...plain.matchAll(/This error originated in "([^"]+)" test file/g)].map(([, file]) => file))
  if (files.size === 0) return isFailed ? [] : [{ pass, file: undefined, name: '', message }]
  return [...files].map((file) => ({ pass, file, name: '', message }))
}

/** The beginning of a failure's message: enough to recognize the failure. @param {string} message */
function brief(message) {
  const lines = message.split('\n').filter((line) => !line.includes('node_modules'))
  return lines
    .slice(0, LINES_OF_FAILURE)
    .map((line) => `  ${line}`)
    .join('\n')
}

/** @param {Failure} failure */
export const titleOf = ({ pass, file, name }) =>
  [`${pass.title}: ${file ?? 'the runner'}`, name].filter(Boolean).join(' > ')
