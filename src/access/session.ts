import type { Db } from '../db/index.ts'
import { NotAdministrator } from './errors.ts'
import { hasRole, type Identity } from './identity.ts'
import { hashOf } from './secret.ts'
import { deleteSessions, findSession } from './sessions.sql.ts'

/** How long a browser stays signed in. The end does not move: whoever has a link can open another session. */
export const SESSION_SECONDS = 7 * 24 * 3_600

/** Whose session has this secret; undefined when it has ended. Sessions are rows: any server knows them, also after a restart. */
export async function readSession(db: Db, secret: string): Promise<Identity | undefined> {
  const row = await findSession(db, { hash: hashOf(secret) })
  if (row === undefined) return undefined
  return { name: row.name, role: row.role, limit: null, via: 'session', token: row.token, until: row.expires_at }
}

export type SignOut = {
  readonly by: Identity
  /** Of the session that asks, when it is one. */
  readonly secret: string | undefined
  /** All sessions of the same name, and the links for it or made by it that are not used yet. */
  readonly everywhere: boolean
  /** All sessions there are, and the links that are not used yet; for the administrator. */
  readonly everybody: boolean
}

/** Ends the session that asks, or more. Throws `NotAdministrator`. */
export async function signOut(db: Db, { by, secret = '', everywhere, everybody }: SignOut): Promise<void> {
  if (everybody && !hasRole(by, 'admin')) throw new NotAdministrator(by.name)
  await deleteSessions(db, { hash: hashOf(secret), name: by.name, everywhere, everybody })
}
