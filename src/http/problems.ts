// Every error the server answers is a row here: its stable code, its status and its title. Verbs throw errors
// with a `code`; one that has no row is a bug and is answered as `internal`, without its message.
import type { FastifyReply, FastifyRequest } from 'fastify'

type Row = { readonly status: number; readonly title: string }

export const problems = {
  bad_request: { status: 400, title: 'The request cannot be understood' },
  invalid: { status: 400, title: 'The request is not what it must be' },
  unauthorized: { status: 401, title: 'A token or a session is needed' },
  sign_in_refused: { status: 401, title: 'The sign-in link is wrong, used or too old' },
  not_found: { status: 404, title: 'There is nothing here' },
  method_not_allowed: { status: 405, title: 'The method does not apply here' },
  conflict: { status: 409, title: 'The state does not allow it' },
  too_large: { status: 413, title: 'The body is too large' },
  unsupported_type: { status: 415, title: 'The body is of a type that is not understood' },
  internal: { status: 500, title: 'Something went wrong on the server' },
  not_ready: { status: 503, title: 'The server cannot take work now' },
} as const satisfies Readonly<Record<string, Row>>

export type ProblemCode = keyof typeof problems

/** An error that is answered as the problem it names. */
export class Problem extends Error {
  readonly code: ProblemCode
  constructor(code: ProblemCode, detail: string) {
    super(detail)
    this.code = code
  }
}

const CONTENT_TYPE = 'application/problem+json; charset=utf-8'

export function answerProblem(reply: FastifyReply, code: ProblemCode, detail: string): FastifyReply {
  const { status, title } = problems[code]
  const body = { type: 'about:blank', title, status, code, detail, request_id: reply.request.id }
  // Serialized here: fastify would answer an object under its own content type.
  return reply.status(status).header('content-type', CONTENT_TYPE).send(JSON.stringify(body))
}

export function answerError(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const code = codeOf(error)
  if (code === 'internal') {
    request.log.error({ err: error }, 'a request ended in an unforeseen error')
    return answerProblem(reply, code, 'the log has the details under the request id')
  }
  return answerProblem(reply, code, error instanceof Error ? error.message : String(error))
}

const byStatus: Readonly<Record<number, ProblemCode>> = {
  400: 'bad_request',
  404: 'not_found',
  405: 'method_not_allowed',
  413: 'too_large',
  415: 'unsupported_type',
  503: 'not_ready',
}

function codeOf(error: unknown): ProblemCode {
  const { code, statusCode } = (error ?? {}) as { code?: unknown; statusCode?: unknown }
  if (typeof code === 'string' && Object.hasOwn(problems, code)) return code as ProblemCode
  // The framework's own errors (a body that is no JSON, one that is too large) carry a status alone.
  return (typeof statusCode === 'number' && byStatus[statusCode]) || 'internal'
}
