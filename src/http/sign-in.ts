import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import type { Sessions } from '../access/index.ts'
import { SESSION_COOKIE } from './identity.ts'
import { Problem } from './problems.ts'

const body = z.strictObject({ secret: z.string().min(1).max(200) })

/** `POST /v1/sign-in` takes the secret of the one-time link and opens a session in the browser. */
export function addSignIn(app: FastifyInstance, sessions: Sessions, redeem: (secret: string) => boolean): void {
  app.post('/v1/sign-in', async (request, reply) => {
    const parsed = body.safeParse(request.body)
    if (!parsed.success) throw new Problem('invalid', 'the body must be {"secret": "…"}')
    if (!redeem(parsed.data.secret)) {
      throw new Problem('sign_in_refused', 'a link works once, for 15 minutes; a restart of the server prints another')
    }
    const cookie = `${SESSION_COOKIE}=${sessions.open()}; Path=/; HttpOnly; SameSite=Strict`
    return reply.status(204).header('set-cookie', cookie).send()
  })
}
