// Versions of what is edited. A resource's ETag is its row's version in quotes; If-Match says which one the caller has
// seen, and the verb refuses to overwrite another.
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Route } from '../api/index.ts'
import { Problem } from './problems.ts'

/** Tells the caller which version this answer shows. With the same one in If-None-Match a GET is answered 304. */
export function setVersion(reply: FastifyReply, version: string | number): void {
  reply.header('etag', `"${version}"`)
}

/**
 * The version that the caller expects to change; undefined when any will do. A verb compares it in the statement
 * that writes and throws an error with the code `precondition_failed`.
 */
export function expectedVersion(route: Route, request: FastifyRequest): string | undefined {
  if (!route.isVersioned || request.method === 'GET' || request.method === 'HEAD') return undefined
  const given = request.headers['if-match']?.trim()
  if (given === undefined) {
    if (route.isVersioned !== 'required') return undefined
    throw new Problem('precondition_required', 'this needs the version that is meant', {
      remedy: 'read it first and send its ETag in If-Match',
    })
  }
  if (given === '*') return undefined
  // A weak tag never matches a strong comparison (RFC 9110, 13.1.1), and a verb has room for one version only.
  const [, version] = /^"([\x21\x23-\x7e]{1,100})"$/.exec(given) ?? []
  if (version === undefined) {
    throw new Problem('precondition_failed', `If-Match ${given.slice(0, 100)} is no version that this server gave`)
  }
  return version
}

/** Whether the caller has this version already. */
export function isKnown(request: FastifyRequest, reply: FastifyReply): boolean {
  const etag = reply.getHeader('etag')
  const known = request.headers['if-none-match']
  if (typeof etag !== 'string' || known === undefined) return false
  return known === '*' || known.split(',').some((tag) => tag.trim().replace(/^W\//, '') === etag)
}
