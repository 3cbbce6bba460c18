export const exitCodes = { done: 0, failure: 1, usage: 2, interrupted: 130 } as const

/** Tells an error in two lines on standard error and answers the exit code. A stack only when asked for. */
export function report(error: unknown, withStack: boolean): number {
  const { message, code, remedy } = error as Error & { code?: string; remedy?: string }
  const isForeseen = typeof remedy === 'string' || code === 'schema_too_new'
  console.error(`millrace: ${message || String(error)}`)
  if (remedy) console.error(`to fix it: ${remedy}`)
  else if (!isForeseen) console.error('this was not foreseen; run again with --debug for the details')
  if (withStack) console.error(error)
  return exitCodes.failure
}
