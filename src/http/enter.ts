// The door of every route: who comes, may they, and the record of it.
import type { FastifyReply, FastifyRequest } from 'fastify'
import { type Deed, hasRole, type Identity } from '../access/index.ts'
import type { Access, Route } from '../api/index.ts'
import { requireSameOrigin } from './origin.ts'
import { Problem } from './problems.ts'

/**
 * Lets a request in: learns who sends it, counts it, refuses what its sender may not do, and writes down that it begins
 * before anything of it can happen.
 */
export async function enter(route: Route, request: FastifyRequest, reply: FastifyReply): Promise<void> {
  reply.header('cache-control', 'no-store')
  const { access, rates } = request.server
  const identity = await rates.identify(request, reply)
  request.identity = identity
  const isRecorded = route.method !== 'GET' && route.isReading !== true && route.access.role !== 'anyone'
  try {
    requireSameOrigin(request, identity)
    requireAccess(route.access, identity)
  } catch (error) {
    if (isRecorded && identity !== undefined) access.audit.refuse(toDeed(route, request, identity), 403)
    throw error
  }
  if (isRecorded && identity !== undefined) request.auditId = await access.audit.begin(toDeed(route, request, identity))
}

const toDeed = (route: Route, request: FastifyRequest, identity: Identity): Deed => ({
  identity,
  action: route.name,
  subject: request.params as Record<string, string>,
  requestId: request.id,
})

/** Throws unless the caller's role or limit opens the door. */
export function requireAccess(access: Access, identity: Identity | undefined): void {
  if (access.role === 'anyone') return
  if (identity === undefined) {
    throw new Problem('unauthorized', 'the request carries no valid token or session', {
      remedy: 'send `Authorization: Bearer …`; the administrator makes tokens with `millrace token create`',
    })
  }
  if (hasRole(identity, access.role)) return
  if (identity.limit !== null && access.limits?.includes(identity.limit.to)) return
  const has = identity.limit === null ? `has the role ${identity.role}` : `is limited to one ${identity.limit.to}`
  throw new Problem('forbidden', `this needs the role ${access.role}, and ${identity.name} ${has}`)
}
