import type { FastifyInstance } from 'fastify'
import type { Sessions } from '../access/index.ts'
import { routes } from '../api/index.ts'
import { addRoute } from './add-route.ts'
import { SESSION_COOKIE } from './identity.ts'
import { Problem } from './problems.ts'

/** `POST /v1/sign-in` takes the secret of the one-time link and opens a session in the browser. */
export function addSignIn(app: FastifyInstance, sessions: Sessions, redeem: (secret: string) => boolean): void {
  addRoute(app, routes.about.signIn, async ({ body, reply }) => {
    if (!redeem(body.secret)) {
      throw new Problem('sign_in_refused', 'a link works once, for 15 minutes; a restart of the server prints another')
    }
    reply.header('set-cookie', `${SESSION_COOKIE}=${sessions.open()}; Path=/; HttpOnly; SameSite=Strict`)
    return undefined
  })
}
