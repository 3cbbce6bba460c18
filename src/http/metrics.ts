import type { FastifyInstance } from 'fastify'
import { collectDefaultMetrics, Histogram, Registry } from 'prom-client'
import { hasRole } from '../access/index.ts'
import { isLocal } from './loopback.ts'
import { Problem } from './problems.ts'

/**
 * `/metrics` for Prometheus, to the administrator and to clients on this machine: a scraper beside the
 * server needs no token. Other parts add their own metrics to the registry.
 */
export function addMetrics(app: FastifyInstance, registry: Registry = new Registry()): void {
  collectDefaultMetrics({ register: registry })
  const duration = new Histogram({
    name: 'millrace_http_request_duration_seconds',
    help: 'Time from a request to the end of its answer.',
    // The route's pattern, never the path: paths hold ids and are without end.
    labelNames: ['method', 'route', 'status'],
    registers: [registry],
  })
  app.addHook('onResponse', async (request, reply) => {
    const route = request.routeOptions.url ?? 'none'
    duration.observe({ method: request.method, route, status: reply.statusCode }, reply.elapsedTime / 1000)
  })
  app.get('/metrics', async (request, reply) => {
    const identity = isLocal(request) ? undefined : await app.rates.identify(request, reply)
    if (!isLocal(request) && !(identity && hasRole(identity, 'admin'))) {
      throw new Problem('unauthorized', 'metrics are for the administrator, or for clients on the same machine')
    }
    return reply.type(registry.contentType).send(await registry.metrics())
  })
}
