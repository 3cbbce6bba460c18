import type fc from 'fast-check'

/**
 * How many cases, and which: MILLRACE_MODEL_RUNS multiplies nothing but sets the number of cases, MILLRACE_MODEL_SEED and
 * MILLRACE_MODEL_PATH repeat a failure as it was printed.
 */
export function settings(runs: number): fc.Parameters<unknown> {
  const given = process.env['MILLRACE_MODEL_RUNS']
  const seed = process.env['MILLRACE_MODEL_SEED']
  const path = process.env['MILLRACE_MODEL_PATH']
  return {
    numRuns: given === undefined ? runs : Number(given),
    ...(seed === undefined ? {} : { seed: Number(seed) }),
    ...(path === undefined ? {} : { path }),
    interruptAfterTimeLimit: 300_000,
    markInterruptAsFailure: true,
  }
}
