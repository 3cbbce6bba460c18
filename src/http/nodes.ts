import type { FastifyInstance } from 'fastify'
import { type BodyOf, routes } from '../api/index.ts'
import type { NewNode, Nodes } from '../nodes/index.ts'
import { addRoute } from './add-route.ts'
import { addNodeData } from './node-data.ts'
import { addNodeList } from './node-list.ts'
import { pointingInto, requireReach, toMetadata, toNode } from './node-shapes.ts'
import { addScheduler } from './scheduler.ts'
import { setVersion } from './version.ts'

/** `/v1/nodes` and `/v1/scheduler`: the tree of nodes, their data, and what runs. */
export function addNodes(app: FastifyInstance, nodes: Nodes): void {
  const { nodes: of } = routes
  addRoute(app, of.add, async ({ body, identity, once }) => {
    const parents = body.map(({ metadata }) => metadata.parent).filter((parent) => !parent.startsWith('#'))
    await requireReach(nodes, identity, parents, 'itself and below')
    return once(async (tx) => {
      const by = { tx, actor: identity.name }
      const added = await pointingInto('/body', () => nodes.add(by, body.map(toNewNode)))
      return added.map(({ metadata, data }) => ({
        id: metadata.id,
        metadata: toMetadata(metadata),
        data: { ...data },
      }))
    })
  })
  addRoute(app, of.get, async ({ params, identity, reply }) => {
    await requireReach(nodes, identity, [params.id], 'with parent')
    const read = await nodes.read(params.id)
    setVersion(reply, read.version)
    return toNode(read)
  })
  addRoute(app, of.change, async ({ params, body, identity, version, once, reply }) => {
    const { run_if: runIf, ...place } = body.metadata ?? {}
    await requireReach(nodes, identity, [params.id], 'with parent')
    if (place.parent !== undefined) await requireReach(nodes, identity, [place.parent], 'itself and below')
    return once(async (tx) => {
      const change = { ...place, runIf, data: body.data }
      const by = { tx, actor: identity.name }
      const read = await pointingInto('/body', () => nodes.change(by, params.id, change, version))
      setVersion(reply, read.version)
      return toNode(read)
    })
  })
  addRoute(app, of.remove, async ({ params, query, identity, version, once }) => {
    await requireReach(nodes, identity, [params.id], 'below')
    return once(async (tx) => {
      const options = { isChain: query.chain === 'true', version }
      return { removed: await nodes.remove({ tx, actor: identity.name }, params.id, options) }
    })
  })
  addNodeList(app, nodes)
  addNodeData(app, nodes)
  addScheduler(app, nodes)
}

function toNewNode({ metadata, data = {} }: BodyOf<typeof routes.nodes.add>[number]): NewNode {
  const { type, parent, run_if: runIf, branch } = metadata
  return { type, parent, runIf, branch, data }
}
