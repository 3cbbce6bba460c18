// Requests that other people's pages make a browser send (CSRF). A browser adds the session's cookie by itself, so a
// request that is authenticated by it counts only when it says that it comes from a page of this server. A token is
// never added by itself: requests that carry one are exempt.
import type { FastifyRequest } from 'fastify'
import type { Identity } from '../access/index.ts'
import { Problem } from './problems.ts'

const isReading = ({ method, headers }: FastifyRequest) =>
  // A WebSocket begins with a GET and is no reading.
  (method === 'GET' || method === 'HEAD') && headers.upgrade === undefined

/** Throws `cross_site` for a request that a session's cookie authenticates and that another site may have caused. */
export function requireSameOrigin(request: FastifyRequest, identity: Identity | undefined): void {
  if (identity?.via !== 'session' || isReading(request)) return
  if (isSameOrigin(request) === true) return
  throw new Problem('cross_site', 'a session may only act through pages of this server', {
    remedy: 'send a token (`Authorization: Bearer …`) instead of a cookie, or the Origin header',
  })
}

/** Throws `cross_site` when the request says that it comes from elsewhere: another's page must not sign anybody in. */
export function refuseOtherOrigin(request: FastifyRequest): void {
  if (isSameOrigin(request) === false) throw new Problem('cross_site', 'signing in is for pages of this server')
}

/** Undefined: the request does not say where it comes from, as that of a program. */
function isSameOrigin(request: FastifyRequest): boolean | undefined {
  const site = request.headers['sec-fetch-site']
  if (site !== undefined) return site === 'same-origin'
  const { origin } = request.headers
  if (origin === undefined) return undefined
  if (!URL.canParse(origin)) return false
  const { host, protocol } = new URL(origin)
  return host === request.host && (protocol === 'https:' || request.protocol !== 'https')
}
