import type { StateLook } from '../state-badge.tsx'
import type { Graph, GraphEdge, GraphNode } from './graph.ts'

/** More than so many cannot be told apart on a screen, and take long to lay out. */
export const MOST_NODES = 300

/** The worst of several states comes first: what a group looks like. */
const worst = ['failed', 'running', 'held', 'delayed', 'ready', 'waiting', 'canceled', 'skipped', 'succeeded']

/**
 * A graph of at most `most` nodes. First those become one that wait for the same and are waited for by the same; when
 * that is not enough, those that are equally far from the beginning. Nothing that waits comes before what it waits for.
 */
export function groupNodes(graph: Graph, most: number = MOST_NODES): Graph {
  if (graph.nodes.length <= most) return graph
  const alike = group(graph, placesOf(graph))
  if (alike.nodes.length <= most) return alike
  const depths = depthsOf(graph)
  const last = Math.max(0, ...depths.values())
  const perLevel = Math.ceil((last + 1) / most)
  return group(graph, (id) => `level ${Math.floor((depths.get(id) ?? 0) / perLevel)}`)
}

/** Says of each node who its neighbours are: those of whom it says the same are interchangeable. */
function placesOf({ nodes, edges }: Graph): (id: string) => string {
  const around = new Map<string, string[]>(nodes.map(({ id, kind }) => [id, [kind]]))
  for (const { from, to, kind, when } of edges) {
    around.get(from)?.push(JSON.stringify(['to', to, kind, when ?? null]))
    around.get(to)?.push(JSON.stringify(['from', from, kind, when ?? null]))
  }
  return (id) => (around.get(id) ?? []).sort().join('\n')
}

/** How many others must be over before each, one after another. */
export function depthsOf({ nodes, edges }: Graph): Map<string, number> {
  const depths = new Map(nodes.map(({ id }) => [id, 0]))
  const open = new Map(nodes.map(({ id }) => [id, 0]))
  const next = new Map<string, string[]>()
  for (const { from, to, kind } of edges) {
    if (kind !== 'depends' || !depths.has(from) || !depths.has(to)) continue
    open.set(to, (open.get(to) ?? 0) + 1)
    const known = next.get(from)
    if (known === undefined) next.set(from, [to])
    else known.push(to)
  }
  const ready = [...open].filter(([, count]) => count === 0).map(([id]) => id)
  for (const id of ready) {
    for (const to of next.get(id) ?? []) {
      depths.set(to, Math.max(depths.get(to) ?? 0, (depths.get(id) ?? 0) + 1))
      const left = (open.get(to) ?? 0) - 1
      open.set(to, left)
      if (left === 0) ready.push(to)
    }
  }
  return depths
}

function group({ nodes, edges }: Graph, keyOf: (id: string) => string): Graph {
  const byKey = new Map<string, GraphNode[]>()
  for (const node of nodes) {
    const key = keyOf(node.id)
    const members = byKey.get(key)
    if (members === undefined) byKey.set(key, [node])
    else members.push(node)
  }
  const home = new Map<string, string>()
  const grouped = [...byKey.values()].map((members) => {
    const node = toGroup(members)
    for (const { id } of members) home.set(id, node.id)
    return node
  })
  const kept = new Map<string, GraphEdge>()
  for (const edge of edges) {
    const from = home.get(edge.from) ?? edge.from
    const to = home.get(edge.to) ?? edge.to
    if (from !== to) kept.set(JSON.stringify([from, to, edge.kind]), { ...edge, from, to })
  }
  return { nodes: grouped, edges: [...kept.values()] }
}

function toGroup(members: readonly GraphNode[]): GraphNode {
  const [first] = members as [GraphNode]
  if (members.length === 1) return first
  return {
    id: `group of ${first.id}`,
    label: `${first.label} and ${members.length - 1} more`,
    kind: 'group',
    look: worstOf(members),
    note: `${members.length} tasks`,
    members,
  }
}

function worstOf(members: readonly GraphNode[]): StateLook | undefined {
  const looks = members.flatMap(({ look }) => (look === undefined ? [] : [look]))
  return looks.sort((a, b) => worst.indexOf(a.colour) - worst.indexOf(b.colour))[0]
}
