import type { FastifyInstance } from 'fastify'
import { routes } from '../api/index.ts'
import type { Nodes } from '../nodes/index.ts'
import { addRoute } from './add-route.ts'
import { requireReach } from './node-shapes.ts'
import { Problem } from './problems.ts'
import { patienceOf } from './wait.ts'

/** `/v1/scheduler`: kill nodes, wait for nodes. */
export function addScheduler(app: FastifyInstance, nodes: Nodes): void {
  const { scheduler } = routes
  addRoute(app, scheduler.kill, async ({ query, identity, once }) => {
    await requireReach(nodes, identity, query.id, 'itself and below')
    return once(async (tx) => ({ nodes: await nodes.kill({ tx, actor: identity.name }, query.id) }))
  })
  addRoute(app, scheduler.wait, async (asked) => {
    const { query, identity, request, reply } = asked
    await requireReach(nodes, identity, query.id, 'with parent')
    const ms = patienceOf(request) || Number.POSITIVE_INFINITY
    if (Number.isFinite(ms)) reply.header('preference-applied', `wait=${ms / 1000}`)
    const waited = await nodes.waitFor({ ids: query.id, state: query.state }, { ms, signal: asked.signal })
    if (!waited.isOver && app.isDraining) {
      throw new Problem('not_ready', 'the server is stopping', { remedy: 'ask again: nothing is lost' })
    }
    if (!waited.isOver) reply.status(202)
    return { nodes: [...waited.nodes] }
  })
}
