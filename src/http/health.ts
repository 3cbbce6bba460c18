import type { FastifyInstance } from 'fastify'
import { answerProblem } from './problems.ts'

/** Undefined when work can be taken; otherwise the reason why not, in a sentence. */
export type Readiness = () => Promise<string | undefined>

/** `/livez` answers while the process lives; `/readyz` while it can also do its work. */
export function addHealth(app: FastifyInstance, readiness: Readiness): void {
  app.get('/livez', async (_, reply) => reply.type('text/plain').send('ok'))
  app.get('/readyz', async (_, reply) => {
    const reason = await readiness()
    if (reason !== undefined) return answerProblem(reply, 'not_ready', reason)
    return reply.type('text/plain').send('ok')
  })
}
