import { drawSvg } from './draw-svg.ts'
import type { Graph, GraphEdge, GraphNode } from './graph.ts'

export const GRAPH_FORMATS = ['text', 'mermaid', 'dot', 'svg'] as const
export type GraphFormat = (typeof GRAPH_FORMATS)[number]

/** The graph as text of that format, with a line break at its end. */
export function printGraph(graph: Graph, format: GraphFormat): string {
  switch (format) {
    case 'text':
      return toText(graph)
    case 'mermaid':
      return toMermaid(graph)
    case 'dot':
      return toDot(graph)
    case 'svg':
      return drawSvg(graph)
    default:
      return format satisfies never
  }
}

/** One line per edge, in the notation of plans. Every task has one, to its COMMIT at least. */
function toText({ nodes, edges }: Graph): string {
  const labels = new Map(nodes.map(({ id, label }) => [id, label]))
  const label = (id: string) => labels.get(id) ?? id
  const lines = edges.map(({ from, to, kind, when }) =>
    kind === 'depends'
      ? { left: label(from), text: `<-- ${label(to)}${when ? `  // when ${when}` : ''}` }
      : { left: label(to), text: `<!= ${label(from)}` },
  )
  const width = Math.max(0, ...lines.map(({ left }) => left.length))
  return lines.map(({ left, text }) => `${left.padEnd(width)} ${text}\n`).join('')
}

function toMermaid({ nodes, edges }: Graph): string {
  const shape = ({ id, label, kind }: GraphNode) => {
    const text = `"${label.replaceAll('"', '#quot;')}"`
    return kind === 'commit' ? `${id}([${text}])` : kind === 'earlier' ? `${id}[/${text}/]` : `${id}[${text}]`
  }
  const link = ({ from, to, kind, when }: GraphEdge) =>
    kind === 'cancels' ? `${from} -. cancels .-x ${to}` : `${from} -->${when ? `|when ${when}|` : ''} ${to}`
  return ['flowchart LR', ...nodes.map(shape).map(indented), ...edges.map(link).map(indented), ''].join('\n')
}

function toDot({ nodes, edges }: Graph): string {
  const quoted = (text: string) => `"${text.replace(/["\\]/g, '\\$&')}"`
  const shapes = { commit: 'shape=oval', task: 'shape=box', earlier: 'shape=box, style=dashed' } as const
  const node = ({ id, label, kind }: GraphNode) => `${id} [label=${quoted(label)}, ${shapes[kind]}]`
  const link = ({ from, to, kind, when }: GraphEdge) => {
    const style = 'style=dashed, arrowhead=tee, label="cancels", constraint=false'
    const label = when ? ` [label=${quoted(`when ${when}`)}]` : ''
    return `${from} -> ${to}${kind === 'cancels' ? ` [${style}]` : label}`
  }
  const lines = ['rankdir=LR', 'node [fontname="sans-serif"]', ...nodes.map(node), ...edges.map(link)]
  return ['digraph millrace {', ...lines.map(indented), '}', ''].join('\n')
}

const indented = (line: string) => `  ${line}`
