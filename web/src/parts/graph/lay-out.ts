import dagre from '@dagrejs/dagre'

export type Box = { readonly id: string; readonly width: number; readonly height: number }
export type Line = { readonly from: string; readonly to: string; readonly isCancel: boolean }
export type Point = { readonly x: number; readonly y: number }

export type LaidOut = {
  readonly width: number
  readonly height: number
  /** The middles of the boxes. */
  readonly places: Readonly<Record<string, Point>>
  /** In the order of the lines; empty for one that leads nowhere. */
  readonly paths: readonly (readonly Point[])[]
}

/** Places boxes from left to right, so that what waits is right of what it waits for. */
export function layOut(boxes: readonly Box[], lines: readonly Line[]): LaidOut {
  const graph = new dagre.graphlib.Graph({ multigraph: true })
  graph.setGraph({ rankdir: 'LR', nodesep: 14, ranksep: 46, edgesep: 8, marginx: 8, marginy: 8 })
  graph.setDefaultEdgeLabel(() => ({}))
  for (const { id, width, height } of boxes) graph.setNode(id, { width, height })
  const ends = lines.map(({ from, to, isCancel }) => {
    if (!graph.hasNode(from) || !graph.hasNode(to) || from === to) return undefined
    // Whoever cancels stands right of what it cancels, as whoever waits does: the earlier is on the left.
    const [v, w] = isCancel ? [to, from] : [from, to]
    const name = isCancel ? 'cancels' : 'depends'
    graph.setEdge(v, w, { weight: isCancel ? 0 : 2 }, name)
    return { v, w, name, isCancel }
  })
  dagre.layout(graph)
  const { width = 0, height = 0 } = graph.graph() as { width?: number; height?: number }
  const places = Object.fromEntries(
    boxes.map(({ id }) => {
      const { x, y } = graph.node(id) as Point
      return [id, { x, y }]
    }),
  )
  const paths = ends.map((end) => {
    if (end === undefined) return []
    const { points } = graph.edge(end) as { points: Point[] }
    const bends = points.slice(1, -1).map(({ x, y }) => ({ x, y }))
    const plain = [sideOf(graph, end.v, 1), ...bends, sideOf(graph, end.w, -1)]
    return end.isCancel ? plain.reverse() : plain
  })
  return { width: Number.isFinite(width) ? width : 0, height: Number.isFinite(height) ? height : 0, places, paths }
}

/** The middle of a box's right or left side: there lines end, whatever way they come. */
function sideOf(graph: { node(id: string): unknown }, id: string, way: 1 | -1): Point {
  const { x, y, width } = graph.node(id) as Point & { readonly width: number }
  return { x: x + (way * width) / 2, y }
}
