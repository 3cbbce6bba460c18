import type { FastifyInstance } from 'fastify'
import { type QueryOf, routes } from '../api/index.ts'
import type { Nodes, Place } from '../nodes/index.ts'
import { addRoute } from './add-route.ts'
import { pidOf, pointingInto, requireReach } from './node-shapes.ts'
import { Problem } from './problems.ts'
import { setVersion } from './version.ts'

/** `/v1/nodes/{id}/data`: the data of nodes, key by key and piece by piece. */
export function addNodeData(app: FastifyInstance, nodes: Nodes): void {
  const { nodes: of } = routes
  addRoute(app, of.keys, async ({ params, query, identity }) => {
    await requireReach(nodes, identity, [params.id], 'with parent')
    const pid = `k${params.id}`
    if (query.start !== undefined && pidOf(query) !== pid) {
      throw new Problem('gone', 'the pid belongs to another list', { remedy: 'begin again, without start and pid' })
    }
    const { keys, hasMore } = await nodes.keys(params.id, { after: query.start, limit: query.limit })
    const last = keys.at(-1)
    return { keys: [...keys], ...(hasMore && last !== undefined ? { pagination: { next: last, pid } } : {}) }
  })
  addRoute(app, of.read, async ({ params, query, identity, reply }) => {
    await requireReach(nodes, identity, [params.id], 'with parent')
    const { data, pagination, pid, isStable } = await nodes.value(params.id, params.key, {
      start: query.start === undefined ? undefined : Number(query.start),
      pid: pidOf(query),
      limit: query.limit,
      encoding: query.encoding,
    })
    if (isStable) setVersion(reply, pid)
    return { key: params.key, data, ...(pagination === undefined ? {} : { pagination }) }
  })
  addRoute(app, of.write, async ({ params, query, body, identity, version, once, reply }) => {
    await requireReach(nodes, identity, [params.id], 'with parent')
    const write = { key: params.key, value: body.value, place: toPlace(query), version }
    return once(async (tx) => {
      const by = { tx, actor: identity.name }
      const pagination = await pointingInto('/body', () => nodes.write(by, params.id, write))
      setVersion(reply, pagination.pid)
      return { key: params.key, pagination }
    })
  })
}

function toPlace(query: QueryOf<typeof routes.nodes.write>): Place {
  if (query.start === undefined) return { from: 'whole' }
  if (query.start === '') return { from: 'unset' }
  return { from: 'start', start: Number(query.start), pid: pidOf(query) ?? '' }
}
