import type { Db } from '../db/index.ts'
import { ExpiryInPast, TokenNameTaken } from './errors.ts'
import type { Limit, Role } from './identity.ts'
import { hashOf, randomSecret } from './secret.ts'
import { insertToken, retireExpired } from './tokens.sql.ts'

/** What the token may do: all of a role, or what one limit allows. */
export type Grant = { readonly role: Role; readonly limit: null } | { readonly role: null; readonly limit: Limit }

export type NewToken = Grant & { readonly name: string; readonly expiresAt: Date | null; readonly actor: string }

/**
 * Makes a token and answers its secret, which is shown this once: only its hash is kept. Throws
 * `TokenNameTaken` when a token of that name works already, and `ExpiryInPast`.
 */
export async function createToken(db: Db, token: NewToken): Promise<{ id: string; secret: string; createdAt: Date }> {
  if (token.expiresAt !== null && token.expiresAt.getTime() <= Date.now()) throw new ExpiryInPast(token.expiresAt)
  const secret = `mr_${randomSecret()}`
  await retireExpired(db, { name: token.name })
  const inserted = await insertToken(db, {
    name: token.name,
    hash: hashOf(secret),
    role: token.role,
    limit_to: token.limit?.to ?? null,
    limit_name: token.limit?.name ?? null,
    actor: token.actor,
    expires_at: token.expiresAt,
  })
  if (inserted === undefined) throw new TokenNameTaken(token.name)
  return { id: inserted.id, secret, createdAt: inserted.created_at }
}
