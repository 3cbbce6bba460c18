// Requests that are none: what never reaches a route because it is no HTTP, or carries what cannot be decoded.
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'
import { Problem, problems } from './problems.ts'

/** Answers bytes that are no HTTP request like every other problem, and closes the connection. */
export function answerBrokenRequest(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
    return
  }
  const code =
    error.code === 'HPE_HEADER_OVERFLOW'
      ? 'headers_too_large'
      : error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
        ? 'timed_out'
        : 'bad_request'
  const { status, title } = problems[code]
  const detail = 'the connection carried what is no HTTP request'
  const body = JSON.stringify({ type: 'about:blank', title, status, code, detail, request_id: 'none' })
  socket.end(
    [
      `HTTP/1.1 ${status} ${title}`,
      'content-type: application/problem+json; charset=utf-8',
      `content-length: ${Buffer.byteLength(body)}`,
      'connection: close',
      '',
      body,
    ].join('\r\n'),
  )
}

/** Refuses a query whose percent-encoding is wrong: taken as it stands it would mean something else than was meant. */
export function refuseBrokenQueries(app: FastifyInstance): void {
  app.addHook('onRequest', async (request) => {
    const start = request.url.indexOf('?')
    if (start === -1) return
    try {
      decodeURIComponent(request.url.slice(start + 1))
    } catch {
      throw new Problem('bad_request', 'the query is not percent-encoded UTF-8')
    }
  })
}

/** Takes a request with an `Expect` that nobody knows for one without: Node would refuse it before any route is asked. */
export function ignoreExpectations(app: FastifyInstance): void {
  app.server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) =>
    app.routing(request, response),
  )
}
