/**
 * How many cases, all of which run, and which. MILLRACE_MODEL_RUNS sets their number; MILLRACE_MODEL_SEED and
 * MILLRACE_MODEL_PATH repeat a failure as it was printed.
 */
export function settings(runs: number) {
  const given = process.env['MILLRACE_MODEL_RUNS']
  const seed = process.env['MILLRACE_MODEL_SEED']
  const path = process.env['MILLRACE_MODEL_PATH']
  return {
    numRuns: given === undefined ? runs : Number(given),
    // What was wrong belongs into the message: a report of the run may hold nothing else.
    includeErrorInReport: true,
    ...(seed === undefined ? {} : { seed: Number(seed) }),
    ...(path === undefined ? {} : { path }),
  }
}
