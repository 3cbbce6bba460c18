import type { FastifyInstance } from 'fastify'
import { type Route, routes, toOpenApi } from '../api/index.ts'
import { addRoute } from './add-route.ts'

/** `/v1/openapi.json`: what this server takes and answers, made from the routes it has. */
export function addOpenApi(app: FastifyInstance, version: string): void {
  const served: Route[] = []
  app.addHook('onRoute', ({ config, method }) => {
    // Fastify adds a HEAD for each GET by itself.
    if (config?.route !== undefined && method !== 'HEAD') served.push(config.route)
  })
  let document: unknown
  addRoute(app, routes.about.openapi, async () => {
    document ??= toOpenApi(served, version)
    return document
  })
}
