import type { Db } from '../db/index.ts'
import { RoleAboveOwn } from './errors.ts'
import { hasRole, type Identity, type Role } from './identity.ts'
import { hashOf, randomSecret } from './secret.ts'
import { SESSION_SECONDS } from './session.ts'
import { insertLink, redeemLink } from './sessions.sql.ts'

const LINK_SECONDS = 15 * 60

export type LinkRequest = {
  /** Who hands it out. */
  readonly by: Identity
  /** Default: the maker's own. */
  readonly role?: Role | undefined
  /** Whom it is for. Default: the maker itself. */
  readonly person?: string | undefined
}

export type SignInLink = { readonly secret: string; readonly role: Role; readonly expiresAt: Date }

/**
 * Makes a link that signs one browser in, once, within 15 minutes, on any server of this database. What it opens ends with
 * the token or session it was made with. Throws `RoleAboveOwn`.
 */
export async function createSignInLink(db: Db, { by, role, person }: LinkRequest): Promise<SignInLink> {
  const wanted = role ?? by.role
  if (wanted === null || !hasRole(by, wanted)) throw new RoleAboveOwn(by.name, by.role ?? 'none', wanted ?? 'one')
  const secret = randomSecret()
  const { expires_at: expiresAt } = await insertLink(db, {
    hash: hashOf(secret),
    name: person === undefined ? by.name : nameFor(person, by),
    role: wanted,
    token: by.token ?? null,
    session_until: by.until ?? null,
    actor: by.name,
    seconds: LINK_SECONDS,
  })
  return { secret, role: wanted, expiresAt }
}

/**
 * Under which name the record shows somebody who was let in. Only the administrator's word is taken for who that is: others
 * could act, and sign out, as whomever they name.
 */
function nameFor(person: string, by: Identity): string {
  if (hasRole(by, 'admin')) return `user:${person}`
  const [, maker = by.name] = /\(of (.*)\)$/.exec(by.name) ?? []
  return `user:${person} (of ${maker})`
}

/** The secret stands after the #, which browsers do not send: it reaches no log on the way. */
export const signInUrl = (baseUrl: string, { secret }: SignInLink): string => `${baseUrl}/sign-in#${secret}`

export type OpenedSession = { readonly secret: string; readonly name: string; readonly expiresAt: Date }

/** Opens a session with the secret of a link and uses the link up; undefined when it is wrong, used or too old. */
export async function signIn(
  db: Db,
  { secret, action, requestId }: { secret: string; action: string; requestId: string },
): Promise<OpenedSession | undefined> {
  const session = randomSecret()
  const opened = await redeemLink(db, {
    link: hashOf(secret),
    session: hashOf(session),
    seconds: SESSION_SECONDS,
    action,
    request: requestId,
  })
  return opened && { secret: session, name: opened.name, expiresAt: opened.expires_at }
}
