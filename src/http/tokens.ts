import type { FastifyInstance } from 'fastify'
import { createToken, type Token } from '../access/index.ts'
import { id, routes } from '../api/index.ts'
import { addRoute } from './add-route.ts'
import { positionOf, toPage } from './cursor.ts'

/** `/v1/tokens`: make, list and revoke them. */
export function addTokens(app: FastifyInstance): void {
  const { tokens } = routes
  addRoute(app, tokens.create, ({ body, identity, once }) => {
    const { name } = body
    const expiresAt = body.expires_at === undefined ? null : new Date(body.expires_at)
    const grant =
      body.limit === undefined ? { role: body.role ?? 'viewer', limit: null } : { role: null, limit: body.limit }
    return once(
      async (tx) => {
        const made = await createToken(tx, { ...grant, name, expiresAt, actor: identity.name })
        const shown = toToken({
          ...grant,
          ...made,
          name,
          expiresAt,
          createdBy: identity.name,
          revokedAt: null,
          revokedBy: null,
          lastUsedAt: null,
        })
        return { ...shown, secret: made.secret }
      },
      // Of a secret only the hash is kept: a repetition learns that the token is there, and no more.
      { kept: (answer) => ({ ...answer, secret: null }) },
    )
  })
  addRoute(app, tokens.list, async ({ query }) => {
    const before = positionOf(tokens.list, query, id) ?? null
    const rows = await app.access.listTokens({ before, limit: query.limit + 1 })
    return toPage(tokens.list, query, rows, { item: toToken, position: (row) => row.id })
  })
  addRoute(app, tokens.revoke, async ({ params, identity }) => {
    await app.access.revokeToken({ id: params.id, actor: identity.name })
    return undefined
  })
}

const toToken = (token: Token) => ({
  id: token.id,
  name: token.name,
  role: token.role,
  limit: token.limit,
  created_at: token.createdAt.toISOString(),
  created_by: token.createdBy,
  expires_at: token.expiresAt?.toISOString() ?? null,
  revoked_at: token.revokedAt?.toISOString() ?? null,
  revoked_by: token.revokedBy,
  last_used_at: token.lastUsedAt?.toISOString() ?? null,
})
