// Puts a route of the contract onto the server: who may call it, what it takes, what it answers. Everything that
// holds for all routes happens here, so that a handler only calls its verb.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { z } from 'zod'
import { hasRole, type Identity } from '../access/index.ts'
import type { Access, BodyAnswered, BodyOf, ParamsOf, QueryOf, Route } from '../api/index.ts'
import { type Flaw, Problem } from './problems.ts'

export type Asked<R extends Route> = {
  readonly params: ParamsOf<R>
  readonly query: QueryOf<R>
  readonly body: BodyOf<R>
  /** Who asks. For a route that anyone may call it may be nobody. */
  readonly identity: Identity
  readonly request: FastifyRequest
  readonly reply: FastifyReply
}

/** Answers the body, or the reply itself when it has sent something else than JSON. */
export type Handler<R extends Route> = (asked: Asked<R>) => Promise<BodyAnswered<R> | FastifyReply>

const NOBODY: Identity = { name: 'anyone', role: null, limit: null, via: 'token' }
const MOST_FLAWS = 50

declare module 'fastify' {
  interface FastifyContextConfig {
    route?: Route
  }
}

export function addRoute<R extends Route>(app: FastifyInstance, route: R, handler: Handler<R>): void {
  const status = Math.min(...Object.keys(route.answers).map(Number))
  app.route({
    method: route.method,
    url: route.path.replace(/\{(\w+)\}/g, ':$1'),
    config: { route },
    ...(route.bodyLimit === undefined ? {} : { bodyLimit: route.bodyLimit }),
    async onRequest(request) {
      request.identity = await request.server.authenticate(request)
      requireAccess(route.access, request.identity)
    },
    async handler(request, reply) {
      const asked = parseAll(route, request)
      reply.status(status)
      const answer = await handler({ ...asked, identity: request.identity ?? NOBODY, request, reply } as Asked<R>)
      if (reply.sent || answer === reply) return reply
      if (answer === undefined) return reply.send()
      return reply.type('application/json; charset=utf-8').send(JSON.stringify(answer))
    },
  })
}

/** Throws unless the caller's role or limit opens the door. */
function requireAccess(access: Access, identity: Identity | undefined): void {
  if (access.role === 'anyone') return
  if (identity === undefined) {
    throw new Problem('unauthorized', 'the request carries no valid token or session', {
      remedy: 'send `Authorization: Bearer …`; the administrator makes tokens with `millrace token create`',
    })
  }
  if (hasRole(identity, access.role)) return
  if (identity.limit !== null && access.limits?.includes(identity.limit.to)) return
  const has = identity.limit === null ? `has the role ${identity.role}` : `is limited to one ${identity.limit.to}`
  throw new Problem('forbidden', `this needs the role ${access.role}, and ${identity.name} ${has}`)
}

function parseAll(route: Route, request: FastifyRequest): Record<'params' | 'query' | 'body', unknown> {
  const flaws: Flaw[] = []
  const parse = (schema: z.ZodType | undefined, value: unknown, where: string): unknown => {
    if (schema === undefined) return undefined
    const result = schema.safeParse(value)
    if (!result.success) flaws.push(...result.error.issues.flatMap((issue) => toFlaws(issue, where)))
    return result.data
  }
  if (route.query === undefined) refuseUnknown(request.query as object)
  const params = parse(route.params, request.params, '/path')
  const query = parse(route.query, request.query, '/query')
  // No body at all reaches a handler as null.
  const body = parse(route.body, request.body ?? undefined, '/body')
  if (flaws.length > 0) {
    const [first] = flaws as [Flaw]
    const rest = flaws.length > 1 ? ` (and ${flaws.length - 1} more)` : ''
    throw new Problem('invalid', `${first.pointer}: ${first.message}${rest}`, { errors: flaws.slice(0, MOST_FLAWS) })
  }
  return { params, query, body }
}

function refuseUnknown(query: object): void {
  const [name] = Object.keys(query)
  if (name !== undefined) {
    const flaw = { pointer: `/query/${name}`, message: `Unrecognized parameter: "${name}"` }
    throw new Problem('invalid', `${flaw.pointer}: ${flaw.message}`, { errors: [flaw] })
  }
}

const escaped = (part: PropertyKey) => String(part).replaceAll('~', '~0').replaceAll('/', '~1')

function toFlaws(issue: z.core.$ZodIssue, where: string): Flaw[] {
  const pointer = [where, ...issue.path.map(escaped)].join('/')
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => ({ pointer: `${pointer}/${escaped(key)}`, message: `Unrecognized key: "${key}"` }))
  }
  return [{ pointer, message: issue.message }]
}
