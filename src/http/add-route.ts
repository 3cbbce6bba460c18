// Puts a route of the contract onto the server: who may call it, what it takes, what it answers. Everything that
// holds for all routes happens here, so that a handler only calls its verb.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Identity, Tx } from '../access/index.ts'
import type { BodyAnswered, BodyOf, ParamsOf, QueryOf, Route } from '../api/index.ts'
import { enter } from './enter.ts'
import { type OnceOptions, runOnce } from './once.ts'
import { parseAll } from './parse.ts'
import { expectedVersion, isKnown } from './version.ts'
import { patienceOf, signalOf, type WaitOptions, waitUntil } from './wait.ts'

export type Asked<R extends Route> = {
  readonly params: ParamsOf<R>
  readonly query: QueryOf<R>
  readonly body: BodyOf<R>
  /** Who asks. For a route that anyone may call it may be nobody. */
  readonly identity: Identity
  readonly request: FastifyRequest
  readonly reply: FastifyReply
  /**
   * Runs `work` in one transaction and answers its body. On a creating route an Idempotency-Key makes a repetition
   * give the first answer again; without one, and on other routes, it is just a transaction. `work` may run again
   * when the database asks for it, so its effects belong into the transaction.
   */
  readonly once: (
    work: (tx: Tx) => Promise<BodyAnswered<R>>,
    options?: OnceOptions<BodyAnswered<R>>,
  ) => Promise<BodyAnswered<R>>
  /** The version that If-Match names; undefined when any will do. The verb compares it where it writes. */
  readonly version: string | undefined
  /** Aborts when the caller has gone or the server is stopping. */
  readonly signal: AbortSignal
  /**
   * Looks until `isEnough` says so, the time that `Prefer: wait=N` gives is over, the caller has gone or the server
   * stops; answers what was seen last.
   */
  readonly wait: <T>(look: () => Promise<T>, isEnough: (seen: T) => boolean, options?: WaitOptions) => Promise<T>
}

/** Answers the body, or the reply itself when it has sent something else than JSON. */
export type Handler<R extends Route> = (asked: Asked<R>) => Promise<BodyAnswered<R> | FastifyReply>

const NOBODY: Identity = { name: 'anyone', role: null, limit: null, via: 'token' }

declare module 'fastify' {
  interface FastifyContextConfig {
    route?: Route
  }
}

export function addRoute<R extends Route>(app: FastifyInstance, route: R, handler: Handler<R>): void {
  const status = Math.min(...Object.keys(route.answers).map(Number))
  const isStream = Object.values(route.answers).includes('text/event-stream')
  app.route({
    method: route.method,
    url: route.path.replace(/\{(\w+)\}/g, ':$1'),
    config: { route },
    ...(route.bodyLimit === undefined ? {} : { bodyLimit: route.bodyLimit }),
    async onRequest(request, reply) {
      await enter(route, request, reply)
    },
    async onSend(request, reply) {
      if (request.auditId !== undefined) app.access.audit.finish(request.auditId, reply.statusCode)
    },
    async handler(request, reply) {
      const asked = toAsked(route, request, reply)
      reply.status(status)
      // A stream would go on for ever without sending anything.
      if (request.method === 'HEAD' && isStream) return reply.type('text/event-stream').send()
      const answer = await handler(asked)
      if (reply.sent || answer === reply) return reply
      if (route.method === 'GET' && isKnown(request, reply)) return reply.status(304).send()
      if (answer === undefined) return reply.send()
      return reply.type('application/json; charset=utf-8').send(JSON.stringify(answer))
    },
  })
}

function toAsked<R extends Route>(route: R, request: FastifyRequest, reply: FastifyReply): Asked<R> {
  const parsed = parseAll(route, request)
  let signal: AbortSignal | undefined
  const endOf = () => {
    signal ??= signalOf(request, reply)
    return signal
  }
  const asked: Omit<Asked<Route>, 'params' | 'query' | 'body'> = {
    identity: request.identity ?? NOBODY,
    request,
    reply,
    version: expectedVersion(route, request),
    get signal() {
      return endOf()
    },
    once: (work, options) => runOnce({ route, request, reply }, work, options),
    wait(look, isEnough, { hint, waitMs = patienceOf(request) } = {}) {
      if (patienceOf(request) > 0) reply.header('preference-applied', `wait=${patienceOf(request) / 1000}`)
      return waitUntil(look, isEnough, { waitMs, signal: endOf(), hint })
    },
  }
  return Object.assign(asked, parsed) as Asked<R>
}
