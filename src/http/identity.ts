import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Authenticate, Identity } from '../access/index.ts'

export const SESSION_COOKIE = 'millrace_session'

declare module 'fastify' {
  interface FastifyRequest {
    /** Who sends it; undefined until the route's door has been passed, or when nobody is known. */
    identity: Identity | undefined
  }
  interface FastifyInstance {
    authenticate(request: FastifyRequest): Promise<Identity | undefined>
  }
}

/** Teaches the server who sends a request: by bearer token, or by the cookie of a signed-in browser. */
export function addIdentity(app: FastifyInstance, authenticate: Authenticate): void {
  app.decorateRequest('identity')
  app.decorate('authenticate', (request: FastifyRequest) => {
    const bearer = /^Bearer\s+(\S+)$/i.exec(request.headers.authorization ?? '')?.[1]
    if (bearer !== undefined) return authenticate({ bearer })
    const session = cookieOf(request.headers.cookie ?? '', SESSION_COOKIE)
    return session === undefined ? Promise.resolve(undefined) : authenticate({ session })
  })
}

function cookieOf(header: string, name: string): string | undefined {
  for (const pair of header.split(';')) {
    const [key, value] = pair.trim().split('=', 2)
    if (key === name) return value
  }
  return undefined
}
