/** In rising order: each may do all that those before it may. */
export type Role = 'viewer' | 'submitter' | 'operator' | 'admin'

/** What a token is good for when it is not good for everything of its role. */
export type Limit = { readonly to: 'archive' | 'node' | 'task'; readonly name: string }

/** Who sends a request. */
export type Identity = {
  /** For the record: `admin`, `token:ci`, `user:ada`, `node:42`. */
  readonly name: string
  /** Null: a token that is limited to one thing and may do nothing else. */
  readonly role: Role | null
  readonly limit: Limit | null
  readonly via: 'token' | 'session'
  /** The token behind it, where it is a row: what it opens ends when the token does. */
  readonly token?: string | null
  /** When the session ends. */
  readonly until?: Date
}

export type Credentials = { readonly bearer?: string | undefined; readonly session?: string | undefined }

/** Tells who sends a request; undefined when the credentials are missing, wrong, expired or revoked. */
export type Authenticate = (given: Credentials) => Promise<Identity | undefined>

const rank = { viewer: 0, submitter: 1, operator: 2, admin: 3 } as const satisfies Record<Role, number>

export function hasRole(identity: Identity, needed: Role): boolean {
  return identity.role !== null && rank[identity.role] >= rank[needed]
}
