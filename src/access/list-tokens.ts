import type { Db } from '../db/index.ts'
import type { Limit, Role } from './identity.ts'
import { selectTokens } from './tokens.sql.ts'

/** A token as it is shown: everything but the secret, which nobody knows. */
export type Token = {
  readonly id: string
  readonly name: string
  readonly role: Role | null
  readonly limit: Limit | null
  readonly createdAt: Date
  readonly createdBy: string
  readonly expiresAt: Date | null
  readonly revokedAt: Date | null
  readonly revokedBy: string | null
  /** True to the minute. */
  readonly lastUsedAt: Date | null
}

/** Tokens, the newest first, those made before the token `before`. Revoked ones stay in the list, for the record. */
export async function listTokens(db: Db, page: { before: string | null; limit: number }): Promise<Token[]> {
  const rows = await selectTokens(db, page)
  return rows.map((row) => ({
    id: row.id,
    name: row.name,
    role: row.role,
    limit: row.limit_to === null ? null : { to: row.limit_to, name: row.limit_name ?? '' },
    createdAt: row.created_at,
    createdBy: row.created_by,
    expiresAt: row.expires_at,
    revokedAt: row.revoked_at,
    revokedBy: row.revoked_by,
    lastUsedAt: row.last_used_at,
  }))
}
