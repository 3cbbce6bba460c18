import type { FastifyInstance } from 'fastify'
import { type BodyOf, routes } from '../api/index.ts'
import type { Nodes } from '../nodes/index.ts'
import { type Asked, addRoute } from './add-route.ts'
import { requireReach } from './node-shapes.ts'
import { Problem } from './problems.ts'
import { patienceOf } from './wait.ts'

type WaitFor = BodyOf<typeof routes.scheduler.waitForMany>

/** `/v1/scheduler`: kill nodes, wait for nodes. */
export function addScheduler(app: FastifyInstance, nodes: Nodes): void {
  const { scheduler } = routes
  addRoute(app, scheduler.kill, async ({ query, body, identity, once }) => {
    const ids = idsOf(query.id, body?.ids)
    await requireReach(nodes, identity, ids, 'itself and below')
    return once(async (tx) => ({ nodes: await nodes.kill({ tx, actor: identity.name }, ids) }))
  })
  type Waiting = Pick<Asked<typeof scheduler.wait>, 'identity' | 'request' | 'reply' | 'signal'>
  const waitFor = async ({ ids, state }: WaitFor, asked: Waiting) => {
    const { identity, request, reply } = asked
    await requireReach(nodes, identity, ids, 'with parent')
    const ms = patienceOf(request) || Number.POSITIVE_INFINITY
    if (Number.isFinite(ms)) reply.header('preference-applied', `wait=${ms / 1000}`)
    const waited = await nodes.waitFor({ ids, state }, { ms, signal: asked.signal })
    if (!waited.isOver && app.isDraining) {
      throw new Problem('not_ready', 'the server is stopping', { remedy: 'ask again: nothing is lost' })
    }
    if (!waited.isOver) reply.status(202)
    return { nodes: [...waited.nodes] }
  }
  addRoute(app, scheduler.wait, (asked) => waitFor({ ids: asked.query.id, state: asked.query.state }, asked))
  addRoute(app, scheduler.waitForMany, (asked) => waitFor(asked.body, asked))
}

/** The ids of the parameter or of the body: one of them must be given. */
function idsOf(fromQuery: string[] | undefined, fromBody: string[] | undefined): string[] {
  const ids = fromQuery ?? fromBody
  if (ids !== undefined && (fromQuery === undefined || fromBody === undefined)) return ids
  const message = ids === undefined ? 'is required, or ids in the body' : 'cannot be given along with ids in the body'
  throw new Problem('invalid', `/query/id: ${message}`, { errors: [{ pointer: '/query/id', message }] })
}
