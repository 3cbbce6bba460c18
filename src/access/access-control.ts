import type { Pool } from '../db/index.ts'
import type { AdminToken } from './admin-token.ts'
import { type Audit, createAudit } from './audit.ts'
import { createAuthenticate } from './authenticate.ts'
import type { Authenticate } from './identity.ts'
import { listTokens, type Token } from './list-tokens.ts'
import { type Once, onceIn } from './once.ts'
import { prune } from './prune.ts'
import { revokeToken } from './revoke-token.ts'
import { type SignOut, signOut } from './session.ts'
import { createSignInLink, type LinkRequest, type OpenedSession, type SignInLink, signIn } from './sign-in-link.ts'
import { createTaskTokens, type IsLive, signingKey, type TaskTokenRequest } from './task-token.ts'

export type AccessOptions = {
  readonly pool: Pool
  readonly adminToken: AdminToken
  /** Says whether the attempt that a task's token was given to is under way. */
  readonly isLive: IsLive
  /** How long the audit is kept; 0: for ever. */
  readonly auditDays: number
  /** Told of writes that nobody waits for and that did not work. */
  readonly onError: (error: unknown) => void
}

/** The verbs of access, with what they need; the server gets them so. */
export type AccessControl = {
  readonly authenticate: Authenticate
  readonly audit: Audit
  readonly once: Once
  listTokens(page: { before: string | null; limit: number }): Promise<Token[]>
  revokeToken(which: { id: string; actor: string }): Promise<void>
  createSignInLink(request: LinkRequest): Promise<SignInLink>
  signIn(given: { secret: string; action: string; requestId: string }): Promise<OpenedSession | undefined>
  signOut(which: SignOut): Promise<void>
  /** Makes the token that a running task or node gets, limited to itself and to this attempt. Costs no row and no query. */
  issueTaskToken(request: TaskTokenRequest): string
  /** Ends the housekeeping and waits for what is still being written. */
  close(): Promise<void>
}

const PRUNE_EVERY_MS = 3_600_000

/** Puts the verbs of access together. Makes the signing key when there is none. */
export async function createAccess(options: AccessOptions): Promise<AccessControl> {
  const { pool, onError } = options
  const taskTokens = createTaskTokens(await signingKey(pool), options.isLive)
  const pending = new Set<Promise<unknown>>()
  const later = (work: Promise<unknown>) => {
    const settled = work.catch(onError).finally(() => pending.delete(settled))
    pending.add(settled)
  }
  const housekeep = () => later(prune(pool, options))
  const timer = setInterval(housekeep, PRUNE_EVERY_MS).unref()
  housekeep()
  const audit = createAudit(pool, onError)
  return {
    authenticate: createAuthenticate({ pool, adminToken: options.adminToken, taskTokens, later }),
    audit,
    once: onceIn(pool),
    listTokens: (page) => listTokens(pool, page),
    revokeToken: (which) => revokeToken(pool, which),
    createSignInLink: (request) => createSignInLink(pool, request),
    signIn: (given) => signIn(pool, given),
    signOut: (which) => signOut(pool, which),
    issueTaskToken: (request) => taskTokens.issue(request),
    async close() {
      clearInterval(timer)
      await Promise.all([...pending, audit.settled()])
    },
  }
}
