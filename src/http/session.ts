import type { FastifyInstance } from 'fastify'
import { signInUrl } from '../access/index.ts'
import { routes } from '../api/index.ts'
import { addRoute } from './add-route.ts'
import { sessionOf, setSession } from './identity.ts'
import { refuseOtherOrigin } from './origin.ts'
import { Problem } from './problems.ts'

/** Signing in with a one-time link and out again, handing out links, and who one is. */
export function addSession(app: FastifyInstance): void {
  const { session } = routes
  const { access } = app
  addRoute(app, session.signIn, async ({ body, request, reply }) => {
    refuseOtherOrigin(request)
    await app.rates.refuseGuessing(request, reply)
    const opened = await access.signIn({ secret: body.secret, action: session.signIn.name, requestId: request.id })
    if (opened === undefined) {
      await app.rates.countFailure(request, reply)
      throw new Problem('sign_in_refused', 'a link works once, for 15 minutes; `millrace open --sign-in` makes another')
    }
    setSession(reply, opened)
    return undefined
  })
  addRoute(app, session.signOut, async ({ body, identity, request, reply }) => {
    const secret = identity.via === 'session' ? sessionOf(request) : undefined
    const { everywhere = false, everybody = false } = body ?? {}
    await access.signOut({ by: identity, secret, everywhere, everybody })
    if (identity.via === 'session') setSession(reply, undefined)
    return undefined
  })
  addRoute(app, session.me, async ({ identity: { name, role, limit, via, until } }) => ({
    name,
    role,
    limit,
    via,
    until: until?.toISOString() ?? null,
  }))
  addRoute(app, session.link, async ({ body, identity, request }) => {
    const link = await access.createSignInLink({ by: identity, role: body?.role, person: body?.name })
    const url = signInUrl(`${request.protocol}://${request.host}${app.basePath}`, link)
    return { url, role: link.role, expires_at: link.expiresAt.toISOString() }
  })
}
