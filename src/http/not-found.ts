import type { FastifyInstance } from 'fastify'
import { answerProblem } from './problems.ts'

/** Answers what has no route: a browser's page, 405 with the methods that there are for a known path, else 404. */
export function addNotFound(app: FastifyInstance): void {
  const known = new Map<string, { pattern: RegExp; methods: Set<string> }>()
  app.addHook('onRoute', ({ url, method }) => {
    if (url.includes('*')) return
    const literally = url.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
    const entry = known.get(url) ?? {
      pattern: new RegExp(`^${literally.replace(/:\w+/g, '[^/]+')}$`),
      methods: new Set(),
    }
    for (const one of [method].flat()) entry.methods.add(one)
    known.set(url, entry)
  })
  app.setNotFoundHandler(async (request, reply) => {
    if (app.answerPage(request, reply)) return reply
    await app.rates.countStranger(request, reply)
    reply.header('cache-control', 'no-store')
    const path = request.url.split('?')[0] ?? ''
    const methods = [...known.values()].flatMap((entry) => (entry.pattern.test(path) ? [...entry.methods] : []))
    if (methods.length === 0) return answerProblem(reply, 'not_found', `no ${request.method} ${path}`)
    const allowed = [...new Set(methods)].sort().join(', ')
    reply.header('allow', allowed)
    return answerProblem(reply, 'method_not_allowed', `${path} takes ${allowed}, not ${request.method}`)
  })
}
