import type { FastifyInstance } from 'fastify'
import { workflowJsonSchema } from '../archives/index.ts'

/** `/schemas/workflow.v1.json`: by which editors complete and explain workflow files. They have no token. */
export function addWorkflowSchema(app: FastifyInstance): void {
  let text: string | undefined
  app.get('/schemas/workflow.v1.json', async (_, reply) => {
    text ??= JSON.stringify(workflowJsonSchema())
    return reply.type('application/json; charset=utf-8').send(text)
  })
}
