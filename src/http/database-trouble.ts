import type { FastifyReply, FastifyRequest } from 'fastify'
import { answerError, answerProblem, codeOf } from './problems.ts'

/** The database did not answer in time, or could not be reached. */
export type DatabaseTrouble = 'late' | 'away'

type AnswerError = (error: unknown, request: FastifyRequest, reply: FastifyReply) => FastifyReply

/** Turns errors into responses. A failure of the database is temporary: the response says whether the change may have been made. */
export const errorAnswerer =
  (troubleOf: (error: unknown) => DatabaseTrouble | undefined = () => undefined): AnswerError =>
  (error, request, reply) => {
    const trouble = codeOf(error) === 'internal' ? troubleOf(error) : undefined
    if (trouble === undefined) return answerError(error, request, reply)
    request.log.warn({ err: error }, 'the database failed a request')
    reply.header('retry-after', '1')
    const fact = trouble === 'late' ? 'the database did not answer in time' : 'the database cannot be reached'
    return answerProblem(reply, trouble === 'late' ? 'database_late' : 'not_ready', outcomeOf(request, fact))
  }

type Outcome = { readonly detail: string; readonly remedy: string }

/** Nothing is changed before the record of a change is written. */
function outcomeOf(request: FastifyRequest, fact: string): Outcome {
  const route = request.routeOptions.config.route
  const isReading = route === undefined || route.method === 'GET' || route.isReading === true
  if (isReading) return { detail: fact, remedy: 'send the request again' }
  if (request.auditId === undefined && route.access.role !== 'anyone')
    return { detail: `${fact}; nothing was changed`, remedy: 'send the request again' }
  const detail = `${fact}; the change may or may not have been made`
  if (request.headers['idempotency-key'] !== undefined && route.isCreating === true)
    return { detail, remedy: 'send the request again with the same Idempotency-Key: the change is made once' }
  if (route.isCreating === true)
    return { detail, remedy: 'look whether it was made; a request with an Idempotency-Key can be sent again safely' }
  return { detail, remedy: 'look whether it was made before you send the request again' }
}
