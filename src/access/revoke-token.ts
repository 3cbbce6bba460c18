import type { Db } from '../db/index.ts'
import { TokenNotFound } from './errors.ts'
import { markRevoked } from './tokens.sql.ts'

/**
 * Ends a token, and with it the sessions that were opened with its links, on every server at once: none keeps what it
 * has read of a token. Again is no error. Throws `TokenNotFound`.
 */
export async function revokeToken(db: Db, { id, actor }: { id: string; actor: string }): Promise<void> {
  if ((await markRevoked(db, { id, actor })) === undefined) throw new TokenNotFound(id)
}
