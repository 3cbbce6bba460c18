import type { Route } from '../api/index.ts'

/** A request that is not in the contract, for the client. */
export const anyRoute = (method: Route['method'], path: string): Route => ({
  method,
  // The client would take these for parameters.
  path: path.replaceAll('{', '%7B').replaceAll('}', '%7D'),
  name: 'any',
  summary: '',
  access: { role: 'anyone' },
  answers: {},
})
