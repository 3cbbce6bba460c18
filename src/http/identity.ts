import type { FastifyRequest } from 'fastify'
import type { AdminToken, Sessions } from '../access/index.ts'

export const SESSION_COOKIE = 'millrace_session'

export type Identity = { isAdmin(request: FastifyRequest): boolean }

/** Tells who sends a request: by bearer token, or by the cookie of a signed-in browser. */
export function createIdentity(adminToken: AdminToken, sessions: Sessions): Identity {
  return {
    isAdmin(request) {
      const bearer = /^Bearer\s+(\S+)$/i.exec(request.headers.authorization ?? '')?.[1]
      if (bearer !== undefined) return adminToken.matches(bearer)
      const cookie = cookieOf(request.headers.cookie ?? '', SESSION_COOKIE)
      return cookie !== undefined && sessions.isOpen(cookie)
    },
  }
}

function cookieOf(header: string, name: string): string | undefined {
  for (const pair of header.split(';')) {
    const [key, value] = pair.trim().split('=', 2)
    if (key === name) return value
  }
  return undefined
}
