import { Link } from '../link.tsx'
import { StateBadge } from '../state-badge.tsx'
import type { Graph, GraphNode } from './graph.ts'
import { depthsOf } from './group-nodes.ts'
import { speakEdges } from './speak.ts'
import './graph.css'

/** The same as the drawing in words, in an order in which nothing comes before what it waits for. */
export function GraphList({ graph, label }: { readonly graph: Graph; readonly label: string }) {
  const spoken = speakEdges(graph)
  const depths = depthsOf(graph)
  const nodes = graph.nodes
    .filter(({ kind }) => kind !== 'earlier')
    .sort((a, b) => (depths.get(a.id) ?? 0) - (depths.get(b.id) ?? 0))
  return (
    <ol className="graph-list" aria-label={label}>
      {nodes.map((node) => {
        const { needs, cancels } = spoken(node.id)
        return (
          <li key={node.id}>
            <p className="row">
              {node.look !== undefined && <StateBadge look={node.look} />}
              <NodeName node={node} />
              {node.note !== undefined && <span className="muted">{node.note}</span>}
            </p>
            {needs.length > 0 && <p className="muted name">waits for {needs.join('; ')}</p>}
            {cancels.length > 0 && <p className="muted name">cancels {cancels.join('; ')}</p>}
          </li>
        )
      })}
    </ol>
  )
}

function NodeName({ node: { label, place } }: { readonly node: GraphNode }) {
  if (place === undefined) return <span className="mono name">{label}</span>
  return (
    <Link to="/archives/$name/r/$rev/$task" params={place} className="mono name">
      {label}
    </Link>
  )
}
