import type { Db } from '../db/index.ts'
import type { Identity } from './identity.ts'
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

/** Ends the session with this secret, or all that its owner has anywhere. */
export async function signOut(
  db: Db,
  { secret, name, everywhere }: { secret: string; name: string; everywhere: boolean },
): Promise<void> {
  await deleteSessions(db, { hash: hashOf(secret), name, everywhere })
}
