import { randomUUID } from 'node:crypto'
import { type FastifyBaseLogger, type FastifyInstance, fastify, LogController } from 'fastify'
import type { Registry } from 'prom-client'
import type { AccessControl } from '../access/index.ts'
import { addAudit } from './audit.ts'
import { answerBrokenRequest, ignoreExpectations, refuseBrokenQueries } from './broken-request.ts'
import { addDashboard } from './dashboard.ts'
import { type DatabaseTrouble, errorAnswerer } from './database-trouble.ts'
import { addDrain } from './drain.ts'
import { HostUnusable, OpenHostNeedsToken, PortInUse } from './errors.ts'
import { addHealth, type Readiness } from './health.ts'
import { addIdentity } from './identity.ts'
import { addJsonBody } from './json-body.ts'
import { isLoopback } from './loopback.ts'
import { addMetrics } from './metrics.ts'
import { addNotFound } from './not-found.ts'
import { addOpenApi } from './openapi.ts'
import { addRateLimit } from './rate-limit.ts'
import { addSecurityHeaders } from './security-headers.ts'
import { addSession } from './session.ts'
import { addTokens } from './tokens.ts'
import { addWorkflowSchema } from './workflow-schema.ts'

/** Puts the routes of one resource onto the server. */
export type Resource = (app: FastifyInstance) => void

export type ServerOptions = {
  logger: FastifyBaseLogger
  access: AccessControl
  readiness: Readiness
  version: string
  /** Requests per minute and caller; 0: without end. */
  rateLimit: number
  /** Addresses of proxies whose X-Forwarded-… headers count. */
  trustProxy?: string | undefined
  /** Recognizes errors that are neither the request's fault nor a bug: the database was `late`, or could not be reached. */
  databaseTrouble?: (error: unknown) => DatabaseTrouble | undefined
  resources?: readonly Resource[]
  metrics?: Registry
  /** Path under which a proxy shows the server: `/millrace`. It is answered with and without. */
  basePath?: string | undefined
}

export type HttpServer = {
  readonly app: FastifyInstance
  /** Starts to listen and answers the URL to reach it by. */
  listen(address: { host: string; port: number }): Promise<string>
  /** Takes no new requests, lets those under way end, and cuts off what is left when the time is over. */
  drain(limitMs: number): Promise<void>
}

const BODY_LIMIT = 8 * 1024 * 1024
const REQUEST_MS = 3_600_000 // for large uploads over slow lines; without a limit a connection could be held for ever
const REQUEST_ID = /^[\w.-]{1,100}$/

export function createServer(options: ServerOptions): HttpServer {
  const answerError = errorAnswerer(options.databaseTrouble)
  const { basePath = '' } = options
  const app: FastifyInstance = fastify({
    loggerInstance: options.logger,
    logController: new LogController({ disableRequestLogging: true }),
    bodyLimit: BODY_LIMIT,
    requestTimeout: REQUEST_MS,
    routerOptions: { maxParamLength: 4000 },
    rewriteUrl: ({ url = '/' }) => withoutBase(url, basePath),
    ...(options.trustProxy === undefined ? {} : { trustProxy: options.trustProxy }),
    // A caller's own id goes on through all logs; one that could break a log line does not.
    requestIdHeader: false,
    genReqId: (request) => {
      const given = request.headers['x-request-id']
      return typeof given === 'string' && REQUEST_ID.test(given) ? given : randomUUID()
    },
    // Idle keep-alive connections would otherwise hold a stop up until they time out.
    forceCloseConnections: 'idle',
    // What arrives while the server stops is answered by `addDrain`, as a problem like any other.
    return503OnClosing: false,
    frameworkErrors: (error, request, reply) => void answerError(error, request, reply),
    clientErrorHandler: answerBrokenRequest,
  })
  app.setErrorHandler(answerError)
  app.addHook('onRequest', async (request, reply) => {
    reply.header('x-request-id', request.id)
  })
  // Each of these holds for all routes, in this order.
  addSecurityHeaders(app)
  const drain = addDrain(app)
  ignoreExpectations(app)
  refuseBrokenQueries(app)
  addJsonBody(app)
  addIdentity(app, options.access)
  addRateLimit(app, options.rateLimit)
  addDashboard(app, basePath, options.version)
  addNotFound(app)
  addOpenApi(app, options.version)

  addMetrics(app, options.metrics)
  addHealth(app, async () => (drain.isDraining ? 'the server is stopping' : options.readiness()))
  addWorkflowSchema(app)
  addSession(app)
  addTokens(app)
  addAudit(app)
  for (const add of options.resources ?? []) add(app)

  return { app, listen: (address) => listen(app, address), drain: (limitMs) => drain.drain(limitMs) }
}

/** A proxy may leave the path as it is, or take off what it is for. */
function withoutBase(url: string, basePath: string): string {
  const rest = url.slice(basePath.length)
  if (basePath === '' || !url.startsWith(basePath) || !/^($|[/?])/.test(rest)) return url
  return rest.startsWith('/') ? rest : `/${rest}`
}

async function listen(app: FastifyInstance, { host, port }: { host: string; port: number }): Promise<string> {
  try {
    await app.listen({ host, port })
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EADDRINUSE') throw new PortInUse(host, port)
    if (code === 'EADDRNOTAVAIL' || code === 'EACCES' || code === 'ENOTFOUND') {
      throw new HostUnusable(host, port, error as Error)
    }
    throw error
  }
  const bound = app.server.address()
  const boundPort = typeof bound === 'object' && bound !== null ? bound.port : port
  return `http://${host.includes(':') ? `[${host}]` : host}:${boundPort}`
}

/** Throws when others could reach `host` and the token is not one that somebody set on purpose. */
export function requireTokenFor(host: string, givenToken: string | undefined): void {
  if (!isLoopback(host) && givenToken === undefined) throw new OpenHostNeedsToken(host)
}
