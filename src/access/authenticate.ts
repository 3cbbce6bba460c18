import type { Pool } from '../db/index.ts'
import type { AdminToken } from './admin-token.ts'
import type { Authenticate, Identity } from './identity.ts'
import { hashOf } from './secret.ts'
import { readSession } from './session.ts'
import type { TaskTokens } from './task-token.ts'
import { findToken, touchToken } from './tokens.sql.ts'

const SECRET = /^[\w-]{43}$/
const ADMIN: Identity = { name: 'admin', role: 'admin', limit: null, via: 'token' }

export type AuthenticateOptions = {
  readonly pool: Pool
  readonly adminToken: AdminToken
  readonly taskTokens: TaskTokens
  /** Takes work that nobody waits for. */
  readonly later: (work: Promise<unknown>) => void
}

/**
 * Tells who sends a request: by the administrator's token, a token of the list, a running task's token or an open session.
 * Nothing that was read is kept for the next request: what is revoked or has ended is refused at once on every
 * server. What cannot be a secret of ours is refused without asking the database.
 */
export function createAuthenticate({ pool, adminToken, taskTokens, later }: AuthenticateOptions): Authenticate {
  const touching = new Set<string>()
  const touch = (id: string) => {
    if (touching.has(id)) return
    touching.add(id)
    later(touchToken(pool, { id }).finally(() => touching.delete(id)))
  }
  const byToken = async (bearer: string): Promise<Identity | undefined> => {
    if (!bearer.startsWith('mr_') || !SECRET.test(bearer.slice(3))) return undefined
    const row = await findToken(pool, { hash: hashOf(bearer) })
    if (row === undefined) return undefined
    if (row.is_stale) touch(row.id)
    const limit = row.limit_to === null ? null : { to: row.limit_to, name: row.limit_name ?? '' }
    return { name: `token:${row.name}`, role: row.role, limit, via: 'token', token: row.id }
  }
  return async ({ bearer, session }) => {
    if (bearer === undefined) {
      return session !== undefined && SECRET.test(session) ? readSession(pool, session) : undefined
    }
    if (adminToken.matches(bearer)) return ADMIN
    return bearer.startsWith('mrt_') ? taskTokens.verify(bearer) : byToken(bearer)
  }
}
