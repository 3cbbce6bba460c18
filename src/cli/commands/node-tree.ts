import type { CommandFile } from '../command.ts'
import type { Context, Server } from '../context.ts'
import { UsageError } from '../exit.ts'
import { mapAtOnce } from '../map-at-once.ts'
import { listNodes, NODE, type NodeRow, nodeLabel, nodeRan, paintNodeState } from '../node.ts'
import { clean } from '../render/text.ts'
import { type Twig, tree } from '../render/tree.ts'

const MOST = 10_000
const MOST_LABELS = 200 // each is a request of its own

/** Draws nodes as the tree they are: each below the one that must end before it. */
export const nodeTree: CommandFile = {
  usage: '[ID]',
  examples: ['millrace node tree', 'millrace node tree 12 --json'],
  prints: 'one',
  define: (command) => void command.argument('[node]', `${NODE} at the root (default: all)`),
  async run(context, [root]) {
    const { output, signal } = context
    const server = await context.server()
    const { items, hasMore } = await listNodes(server, {}, { most: MOST, signal })
    if (hasMore) output.note(`there are more than ${MOST} nodes: only the oldest are shown`)
    if (root !== undefined && !items.some(({ id }) => id === root)) {
      throw new UsageError(`there is no node ${root} among those that are shown`, 'look with `millrace node ls`')
    }
    const below = childrenOf(items)
    const top = root === undefined ? (below.get('root') ?? []) : items.filter(({ id }) => id === root)
    if (output.format === 'json')
      return output.one(
        top.map((node) => nested(node, below)),
        () => [],
      )
    const labels = await labelsOf(context, server, reach(top, below))
    const twig = (node: NodeRow): Twig => ({
      label: `${output.style.bold(node.id)} ${paintNodeState(output.style, node.state)}  ${labels.get(node.id) ?? node.type}${node.started_at === null ? '' : `  ${output.style.dim(nodeRan(node))}`}`,
      below: (below.get(node.id) ?? []).map(twig),
    })
    if (top.length === 0) output.note('no nodes')
    for (const line of tree(top.map(twig))) output.line(line)
  },
}

type Below = ReadonlyMap<string, readonly NodeRow[]>

function childrenOf(nodes: readonly NodeRow[]): Below {
  const below = new Map<string, NodeRow[]>()
  for (const node of nodes) {
    const siblings = below.get(node.parent)
    if (siblings === undefined) below.set(node.parent, [node])
    else siblings.push(node)
  }
  return below
}

type Nested = NodeRow & { readonly children: Nested[] }

const nested = (node: NodeRow, below: Below): Nested => ({
  ...node,
  children: (below.get(node.id) ?? []).map((child) => nested(child, below)),
})

const reach = (top: readonly NodeRow[], below: Below): NodeRow[] =>
  top.flatMap((node) => [node, ...reach(below.get(node.id) ?? [], below)])

/** What each node does; of very many only the first. */
async function labelsOf({ signal }: Context, { client, routes }: Server, nodes: readonly NodeRow[]) {
  const read = await mapAtOnce(nodes.slice(0, MOST_LABELS), 8, ({ id }) =>
    client.call(routes.nodes.get, { params: { id } }, { signal }),
  )
  return new Map(read.map((node) => [node.metadata.id, clean(nodeLabel(node)).slice(0, 200)]))
}
