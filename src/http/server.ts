import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { type FastifyBaseLogger, type FastifyInstance, fastify, LogController } from 'fastify'
import type { Registry } from 'prom-client'
import type { Authenticate, Sessions } from '../access/index.ts'
import { HostUnusable, OpenHostNeedsToken, PortInUse } from './errors.ts'
import { addHealth, type Readiness } from './health.ts'
import { addIdentity } from './identity.ts'
import { isLoopback } from './loopback.ts'
import { addMetrics } from './metrics.ts'
import { addOpenApi } from './openapi.ts'
import { answerError, answerProblem } from './problems.ts'
import { addSignIn } from './sign-in.ts'

/** Puts the routes of one resource onto the server. */
export type Resource = (app: FastifyInstance) => void

export type ServerOptions = {
  logger: FastifyBaseLogger
  authenticate: Authenticate
  sessions: Sessions
  redeem: (secret: string) => boolean
  readiness: Readiness
  version: string
  resources?: readonly Resource[]
  metrics?: Registry
}

export type HttpServer = {
  readonly app: FastifyInstance
  /** Starts to listen and answers the URL to reach it by. */
  listen(address: { host: string; port: number }): Promise<string>
  /** Takes no new requests, lets those under way end, and cuts off what is left when the time is over. */
  drain(limitMs: number): Promise<void>
}

const BODY_LIMIT = 8 * 1024 * 1024
const REQUEST_ID = /^[\w.-]{1,100}$/

export function createServer(options: ServerOptions): HttpServer {
  const app: FastifyInstance = fastify({
    loggerInstance: options.logger,
    logController: new LogController({ disableRequestLogging: true }),
    bodyLimit: BODY_LIMIT,
    routerOptions: { maxParamLength: 4000 },
    // A caller's own id goes on through all logs; one that could break a log line does not.
    requestIdHeader: false,
    genReqId: (request) => {
      const given = request.headers['x-request-id']
      return typeof given === 'string' && REQUEST_ID.test(given) ? given : randomUUID()
    },
    // Idle keep-alive connections would otherwise hold a stop up until they time out.
    forceCloseConnections: 'idle',
  })
  app.setErrorHandler(answerError)
  app.setNotFoundHandler((request, reply) => answerProblem(reply, 'not_found', `no ${request.method} ${request.url}`))
  app.addHook('onRequest', async (request, reply) => {
    reply.header('x-request-id', request.id)
  })

  let isDraining = false
  const readiness = async () => (isDraining ? 'the server is stopping' : options.readiness())
  addIdentity(app, options.authenticate)
  addOpenApi(app, options.version)
  addMetrics(app, options.metrics)
  addHealth(app, readiness)
  addSignIn(app, options.sessions, options.redeem)
  for (const add of options.resources ?? []) add(app)

  return {
    app,
    listen: (address) => listen(app, address),
    async drain(limitMs) {
      isDraining = true
      const timer = new AbortController()
      const late = sleep(limitMs, undefined, { signal: timer.signal }).then(
        () => app.server.closeAllConnections(),
        () => {},
      )
      await app.close()
      timer.abort()
      await late
    },
  }
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
