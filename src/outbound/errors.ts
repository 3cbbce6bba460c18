/** The URL is not one that requests may go to, whatever it leads to. */
export class UrlRefused extends Error {
  readonly code = 'url_refused'
  constructor(why: string) {
    super(`the URL is refused: ${why}`)
  }
}

/** The host is, or resolves to, an address inside the house. */
export class AddressRefused extends Error {
  readonly code = 'address_refused'
  readonly remedy: string
  constructor(host: string, found: string) {
    super(`${host} is refused: ${found}`)
    this.remedy = `if that is meant, name the host or its addresses in outbound_allow (MILLRACE_OUTBOUND_ALLOW)`
  }
}

/** No whole answer came: the connection could not be made, broke, or took too long. */
export class NoAnswer extends Error {
  readonly code = 'no_answer'
  constructor(host: string, cause: Error) {
    super(`${host} did not answer: ${describe(cause)}`, { cause })
  }
}

function describe(cause: Error): string {
  if (cause.name === 'TimeoutError') return 'it took too long'
  // What tries several addresses at once keeps the errors of each, and has no message of its own.
  const inner = cause instanceof AggregateError ? (cause.errors as Error[]).map((error) => error.message) : []
  return cause.message || inner.join('; ') || cause.name
}
