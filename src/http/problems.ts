// Every error the server answers is a row here: its stable code, its status and its title. Verbs throw errors
// with a `code`; one that has no row is a bug and is answered as `internal`, without its message.
import type { FastifyReply, FastifyRequest } from 'fastify'

type Row = { readonly status: number; readonly title: string }

export const problems = {
  bad_request: { status: 400, title: 'The request cannot be understood' },
  invalid: { status: 400, title: 'The request is not what it must be' },
  invalid_option: { status: 400, title: 'The request is not what it must be' },
  invalid_payload: { status: 400, title: 'The payload is not what its kind asks for' },
  invalid_pattern: { status: 400, title: 'The pattern cannot be searched for' },
  invalid_query: { status: 400, title: 'The search cannot be understood' },
  url_refused: { status: 400, title: 'Requests to that URL are refused' },
  invalid_input: { status: 400, title: 'The inputs are not what the workflow takes' },
  invalid_archive: { status: 400, title: 'The archive cannot be as it was said' },
  invalid_repository: { status: 400, title: 'The repository cannot be as it was said' },
  invalid_change: { status: 400, title: 'The change cannot be committed' },
  address_refused: { status: 400, title: 'Requests to that address are refused' },
  number_not_exact: { status: 400, title: 'A number in the body cannot be kept exactly' },
  secret_name_reserved: { status: 400, title: 'No secret may have that name' },
  unknown_kind: { status: 400, title: 'There is no worker of that kind' },
  cursor_mismatch: { status: 400, title: 'The cursor belongs to another list' },
  unauthorized: { status: 401, title: 'A token or a session is needed' },
  sign_in_refused: { status: 401, title: 'The sign-in link is wrong, used or too old' },
  forbidden: { status: 403, title: 'The token or session may not do this' },
  cross_site: { status: 403, title: 'The request does not come from this server’s own pages' },
  not_found: { status: 404, title: 'There is nothing here' },
  task_not_found: { status: 404, title: 'There is no such task' },
  node_not_found: { status: 404, title: 'There is no such node' },
  key_not_found: { status: 404, title: 'The node has no such data' },
  artifact_not_found: { status: 404, title: 'The task has left no such file' },
  secret_not_found: { status: 404, title: 'There is no such secret' },
  token_not_found: { status: 404, title: 'There is no such token' },
  worker_not_found: { status: 404, title: 'There is no such worker' },
  webhook_not_found: { status: 404, title: 'There is no such webhook' },
  delivery_not_found: { status: 404, title: 'There is no such delivery' },
  archive_not_indexed: { status: 404, title: 'The archive has no index' },
  path_not_indexed: { status: 404, title: 'There is nothing of that name at the revision' },
  unknown_workflow: { status: 404, title: 'The revision has no such workflow' },
  unknown_workflow_task: { status: 404, title: 'The revision has no such task' },
  schedule_not_found: { status: 404, title: 'There is no such schedule' },
  archive_not_found: { status: 404, title: 'There is no such archive' },
  revision_not_planned: { status: 404, title: 'The revision has not been planned' },
  method_not_allowed: { status: 405, title: 'The method does not apply here' },
  not_acceptable: { status: 406, title: 'The answer cannot be given in that form' },
  timed_out: { status: 408, title: 'The request did not arrive in time' },
  conflict: { status: 409, title: 'The state does not allow it' },
  state_refused: { status: 409, title: 'The state of the task does not allow it' },
  count_differs: { status: 409, title: 'There are more or fewer tasks than expected' },
  too_many_tasks: { status: 409, title: 'There are too many tasks' },
  node_state_refused: { status: 409, title: 'The state of the node does not allow it' },
  node_has_children: { status: 409, title: 'There are nodes below it' },
  node_cycle: { status: 409, title: 'A node cannot be below itself' },
  key_conflict: { status: 409, title: 'The key belongs to something else' },
  token_name_taken: { status: 409, title: 'A token of that name works already' },
  webhook_disabled: { status: 409, title: 'The webhook is disabled' },
  definition_broken: { status: 409, title: 'The workflow files have errors' },
  nothing_to_run: { status: 409, title: 'Nothing of it would run' },
  secret_missing: { status: 409, title: 'A secret is not set' },
  secret_key_missing: { status: 409, title: 'The key of the secrets is not here' },
  secret_key_wrong: { status: 409, title: 'The key of the secrets is another one' },
  secret_key_unusable: { status: 409, title: 'The key of the secrets cannot be used' },
  secret_altered: { status: 409, title: 'The secret was altered in the database' },
  archive_state_refused: { status: 409, title: 'The state of the archive does not allow it' },
  other_repository: { status: 409, title: 'The repository is another one' },
  revision_not_indexed: { status: 409, title: 'The revision is not indexed' },
  no_repository: { status: 409, title: 'The archive has no repository' },
  notice_differs: { status: 409, title: 'The revision was announced with other contents' },
  history_rewritten: { status: 409, title: 'The history of the repository was rewritten' },
  out_of_date: { status: 409, title: 'Others have changed the same files' },
  commit_refused: { status: 409, title: 'The repository refuses the commit' },
  cycle: { status: 409, title: 'The requirements would close a cycle' },
  unfinished_work: { status: 409, title: 'There is unfinished work' },
  idempotency_busy: { status: 409, title: 'The same request is still under way' },
  gone: { status: 410, title: 'This is no longer there' },
  position_gone: { status: 410, title: 'Events after that position are not kept any more' },
  precondition_failed: { status: 412, title: 'It was changed meanwhile' },
  too_large: { status: 413, title: 'The body is too large' },
  unsupported_encoding: { status: 415, title: 'The body has an encoding that is not supported' },
  unsupported_type: { status: 415, title: 'The body is of a type that is not understood' },
  range_not_satisfiable: { status: 416, title: 'There is no such part' },
  idempotency_mismatch: { status: 422, title: 'The idempotency key was used for another request' },
  repository_unreachable: { status: 422, title: 'The repository cannot be reached' },
  authentication_failed: { status: 422, title: 'The repository refuses the name or the password' },
  branch_not_found: { status: 422, title: 'The repository has no such branch' },
  path_not_found: { status: 422, title: 'The repository has no such path' },
  revision_not_found: { status: 422, title: 'The repository has no such revision' },
  file_too_large: { status: 422, title: 'The file is too large' },
  upgrade_required: { status: 426, title: 'This is for WebSockets alone' },
  precondition_required: { status: 428, title: 'Say which version is meant, with If-Match' },
  rate_limited: { status: 429, title: 'Too many requests' },
  headers_too_large: { status: 431, title: 'The headers are too large' },
  internal: { status: 500, title: 'Something went wrong on the server' },
  repository_failed: { status: 502, title: 'The repository’s program failed' },
  tool_missing: { status: 503, title: 'A program that is needed is not installed' },
  database_late: { status: 503, title: 'The database did not answer in time' },
  not_ready: { status: 503, title: 'The server cannot take work now' },
  timeout: { status: 504, title: 'The repository did not answer in time' },
} as const satisfies Readonly<Record<string, Row>>

export type ProblemCode = keyof typeof problems

/** One thing that is wrong with a request, and where: `/body/0/metadata/type`. */
export type Flaw = { readonly pointer: string; readonly message: string }

/** An error that is answered as the problem it names. */
export class Problem extends Error {
  readonly code: ProblemCode
  readonly errors: readonly Flaw[] | undefined
  readonly remedy: string | undefined
  constructor(code: ProblemCode, detail: string, more: { errors?: readonly Flaw[]; remedy?: string } = {}) {
    super(detail)
    this.code = code
    this.errors = more.errors
    this.remedy = more.remedy
  }
}

const CONTENT_TYPE = 'application/problem+json; charset=utf-8'

type Details = { readonly detail: string; readonly remedy?: string | undefined; readonly errors?: unknown }

export function answerProblem(reply: FastifyReply, code: ProblemCode, given: string | Details): FastifyReply {
  const { detail, remedy, errors } = typeof given === 'string' ? { detail: given } : given
  const { status, title } = problems[code]
  const body = { type: 'about:blank', title, status, code, detail, remedy, errors, request_id: reply.request.id }
  if (status === 401) reply.header('www-authenticate', 'Bearer realm="millrace"')
  // Serialized here: fastify would answer an object under its own content type.
  return reply.status(status).header('content-type', CONTENT_TYPE).send(JSON.stringify(body))
}

export function answerError(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const code = codeOf(error)
  if (code === 'not_ready') reply.header('retry-after', '1')
  if (code === 'internal') {
    request.log.error({ err: error }, 'a request ended in an unforeseen error')
    return answerProblem(reply, code, 'the log has the details under the request id')
  }
  if (isForbiddenFile(error)) return answerProblem(reply, code, `no ${request.method} ${request.url.split('?')[0]}`)
  if (isUnstorable(error)) return answerProblem(reply, code, 'a text contains U+0000 or half a surrogate pair')
  const { message, remedy, errors } = error as { message?: string; remedy?: string; errors?: unknown }
  return answerProblem(reply, code, { detail: message ?? String(error), remedy, errors })
}

/**
 * What PostgreSQL says to U+0000 and to half a surrogate pair, in a text and in JSON. A schema catches them where it can;
 * inside of values that may be anything only the database does.
 */
function isUnstorable(error: unknown): boolean {
  const { code, detail } = (error ?? {}) as { code?: unknown; detail?: unknown }
  return code === '22021' || code === '22P05' || (code === '22P02' && /Unicode|surrogate/.test(String(detail)))
}

/** What the file server says to a path that leaves its folder. */
const isForbiddenFile = (error: unknown) => (error as { statusCode?: unknown } | null)?.statusCode === 403

const byStatus: Readonly<Record<number, ProblemCode>> = {
  400: 'bad_request',
  403: 'not_found',
  404: 'not_found',
  405: 'method_not_allowed',
  406: 'not_acceptable',
  413: 'too_large',
  408: 'timed_out',
  414: 'bad_request',
  415: 'unsupported_type',
  429: 'rate_limited',
  431: 'headers_too_large',
  503: 'not_ready',
}

export function codeOf(error: unknown): ProblemCode {
  const { code, statusCode } = (error ?? {}) as { code?: unknown; statusCode?: unknown }
  if (typeof code === 'string' && Object.hasOwn(problems, code)) return code as ProblemCode
  if (isUnstorable(error)) return 'invalid'
  // The framework's own errors (a body that is no JSON, one that is too large) carry a status alone.
  return (typeof statusCode === 'number' && byStatus[statusCode]) || 'internal'
}
