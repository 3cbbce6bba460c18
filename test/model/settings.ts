const MOST_MS = 75_000 // of a test on a busy machine; what has run by then is the verdict

/**
 * How many cases, and which. MILLRACE_MODEL_RUNS sets their number and lifts the time limit; MILLRACE_MODEL_SEED and
 * MILLRACE_MODEL_PATH repeat a failure as it was printed.
 */
export function settings(runs: number) {
  const given = process.env['MILLRACE_MODEL_RUNS']
  const seed = process.env['MILLRACE_MODEL_SEED']
  const path = process.env['MILLRACE_MODEL_PATH']
  return {
    numRuns: given === undefined ? runs : Number(given),
    ...(seed === undefined ? {} : { seed: Number(seed) }),
    ...(path === undefined ? {} : { path }),
    ...(given === undefined ? { interruptAfterTimeLimit: MOST_MS } : {}),
  }
}
