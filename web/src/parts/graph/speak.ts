import type { Graph, GraphEdge, GraphNode } from './graph.ts'

const words: Readonly<Record<string, string>> = { failed: ', once it has failed', finished: ', however it ends' }

type Spoken = { readonly needs: readonly string[]; readonly cancels: readonly string[] }

/** What each node waits for and cancels, in words. */
export function speakEdges({ nodes, edges }: Graph): (id: string) => Spoken {
  const labels = new Map(nodes.map(({ id, label }) => [id, label]))
  const needs = new Map<string, string[]>()
  const cancels = new Map<string, string[]>()
  const put = (map: Map<string, string[]>, id: string, text: string) => map.set(id, [...(map.get(id) ?? []), text])
  for (const { from, to, kind, when } of edges) {
    if (kind === 'cancels') put(cancels, from, labels.get(to) ?? to)
    else put(needs, to, `${labels.get(from) ?? from}${words[when ?? ''] ?? ''}`)
  }
  return (id) => ({ needs: needs.get(id) ?? [], cancels: cancels.get(id) ?? [] })
}

/** A node in one sentence: for those who hear it. */
export function speakNode({ label, look, note, kind }: GraphNode, { needs, cancels }: Spoken): string {
  return [
    label,
    kind === 'earlier' ? 'of an earlier revision' : undefined,
    look?.word,
    note,
    needs.length > 0 ? `waits for ${needs.join('; ')}` : undefined,
    cancels.length > 0 ? `cancels ${cancels.join('; ')}` : undefined,
  ]
    .filter((part) => part !== undefined)
    .join(', ')
}

/** Everything before and after a node, itself included: what stays lit when it is looked at. */
export function related(edges: readonly GraphEdge[], id: string): ReadonlySet<string> {
  const found = new Set([id])
  for (const [ahead, behind] of [
    ['from', 'to'],
    ['to', 'from'],
  ] as const) {
    const open = [id]
    for (const one of open)
      for (const edge of edges) {
        const next = edge[behind]
        if (edge[ahead] !== one || found.has(next)) continue
        found.add(next)
        open.push(next)
      }
  }
  return found
}
