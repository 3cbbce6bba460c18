import type { AdminToken } from './admin-token.ts'
import type { Authenticate, Identity } from './identity.ts'
import type { Sessions } from './session.ts'

const admin = (via: Identity['via']): Identity => ({ name: 'admin', role: 'admin', limit: null, via })

/** Tells who sends a request, by the administrator's token or an open session. */
export function createAuthenticate(token: AdminToken, sessions: Sessions): Authenticate {
  return async ({ bearer, session }) => {
    if (bearer !== undefined) return token.matches(bearer) ? admin('token') : undefined
    return session !== undefined && sessions.isOpen(session) ? admin('session') : undefined
  }
}
