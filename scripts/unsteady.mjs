// What becomes of failed tests: each file with a failure runs once more, by itself. What passes then is unsteady.
import { runTests, titleOf } from './run-tests.mjs'

const MOST_UNSTEADY = 3
const MOST_FILES = 20 // more files than that do not fail by accident

/**
 * @typedef {import('./run-tests.mjs').Failure} Failure
 * @typedef {import('./run-tests.mjs').Outcome} Outcome
 * @typedef {(failure: Failure) => Promise<Pick<Outcome, 'failures'>>} RunFile
 * @typedef {{ failed: Failure[], unsteady: Failure[], tooMany: string | undefined }} Sorted
 */

/** @type {RunFile} */
const runFile = ({ pass, file = '' }) => {
  console.log(`\n── once more: ${file}`)
  return runTests(pass, [file])
}

/**
 * Sorts failures into those that come again and those that do not. What fails in the second run alone is among them.
 * @param {readonly Failure[]} failures @param {RunFile} [again] @returns {Promise<Sorted>}
 */
export async function sortFailures(failures, again = runFile) {
  /** @type {Map<string, Failure[]>} */
  const files = new Map()
  for (const failure of failures) {
    const place = `${failure.pass.title}: ${failure.file}`
    files.set(place, [...(files.get(place) ?? []), failure])
  }
  /** @type {Sorted} */
  const sorted = { failed: [], unsteady: [], tooMany: undefined }
  for (const first of files.values()) {
    const [one] = first
    if (one?.file === undefined || files.size > MOST_FILES) {
      sorted.failed.push(...first)
      continue
    }
    const second = (await again(one)).failures
    const isIn = (/** @type {Failure[]} */ run, /** @type {Failure} */ { name }) =>
      run.some((other) => other.name === name || other.name === '')
    // A failure without a name is of the whole file, and says nothing good of any test in it.
    for (const failure of first) (isIn(second, failure) ? sorted.failed : sorted.unsteady).push(failure)
    for (const failure of second)
      if (failure.name !== '' && !first.some(({ name }) => name === failure.name))
        (isIn(first, failure) ? sorted.failed : sorted.unsteady).push(failure)
  }
  if (sorted.unsteady.length > MOST_UNSTEADY)
    sorted.tooMany = `${sorted.unsteady.length} tests are unsteady: more than ${MOST_UNSTEADY} fail the run`
  return sorted
}

/** The lines at the end of a run. @param {readonly Failure[]} unsteady */
export const tellUnsteady = (unsteady) => unsteady.map((failure) => `unsteady: ${titleOf(failure)}`)
