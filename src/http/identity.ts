import cookie from '@fastify/cookie'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { AccessControl, Credentials, Identity } from '../access/index.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Who sends it; undefined until the route's door has been passed, or when nobody is known. */
    identity: Identity | undefined
    /** The audit's row that is completed when the answer is sent. */
    auditId: string | undefined
  }
  interface FastifyInstance {
    readonly access: AccessControl
  }
}

/** Teaches the server who sends a request: by bearer token, or by the cookie of a signed-in browser. */
export function addIdentity(app: FastifyInstance, access: AccessControl): void {
  app.register(cookie)
  app.decorateRequest('identity')
  app.decorateRequest('auditId')
  app.decorate('access', access)
}

/** What the request shows of its sender. A token wins over a cookie. */
export function credentialsOf(request: FastifyRequest): Credentials {
  const bearer = /^Bearer\s+(\S+)$/i.exec(request.headers.authorization ?? '')?.[1]
  return bearer === undefined ? { session: sessionOf(request) } : { bearer }
}

/** The secret of the session in the request's cookie. */
export function sessionOf(request: FastifyRequest): string | undefined {
  const own = request.cookies[cookieName(request)]
  if (own !== undefined || isSecure(request)) return own
  // That of another port of this host may be of a server on the same database.
  return Object.entries(request.cookies).find(([name]) => /^millrace_session(_\d+)?$/.test(name))?.[1]
}

/** Gives the browser the session's secret; without one it is taken away. */
export function setSession(reply: FastifyReply, session: { secret: string; expiresAt: Date } | undefined): void {
  const { request } = reply
  const path = request.server.basePath || '/'
  const options = { path, httpOnly: true, sameSite: 'strict', secure: isSecure(request) } as const
  if (session === undefined) reply.clearCookie(cookieName(request), options)
  else reply.setCookie(cookieName(request), session.secret, { ...options, expires: session.expiresAt })
}

/** By the connection, or by the word of a proxy that is trusted. */
const isSecure = (request: FastifyRequest) => request.protocol === 'https'

/** The prefix makes browsers refuse a cookie of that name that a neighbouring or an unprotected host has set. */
const cookieName = (request: FastifyRequest) => {
  // Browsers send the cookies of a host to all of its ports: two servers must not sign each other's people out.
  if (!isSecure(request)) return request.port === null ? 'millrace_session' : `millrace_session_${request.port}`
  // A cookie of one path may not carry the stronger prefix.
  return request.server.basePath === '' ? '__Host-millrace_session' : '__Secure-millrace_session'
}
