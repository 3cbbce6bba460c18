import type { Graph, GraphEdge, GraphNode } from './graph.ts'

const HEIGHT = 32
const GAP_X = 70
const GAP_Y = 20
const MARGIN = 20
// A wide character of the font below is about this wide; boxes only ever become too wide.
const LETTER = 8.4

type Box = GraphNode & { readonly x: number; readonly y: number; readonly width: number }

/** The graph as a picture in columns from left to right: each task stands right of all that it waits for. */
export function drawSvg({ nodes, edges }: Graph): string {
  const boxes = place(nodes, edges)
  const width = Math.max(0, ...[...boxes.values()].map((box) => box.x + box.width)) + MARGIN
  const height = Math.max(0, ...[...boxes.values()].map((box) => box.y + HEIGHT)) + MARGIN
  const lines = edges.flatMap((edge) => {
    const [from, to] = [boxes.get(edge.from), boxes.get(edge.to)]
    return from && to ? [drawEdge(edge, from, to)] : []
  })
  return `${[
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img">`,
    '<title>tasks and what they wait for</title>',
    '<defs>',
    '<marker id="arrow" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" markerHeight="8" orient="auto"><path d="M0 0 8 4 0 8z" fill="#445"/></marker>',
    '<marker id="tee" viewBox="0 0 8 8" refX="4" refY="4" markerWidth="8" markerHeight="8" orient="auto"><path d="M4 0V8" stroke="#b32" stroke-width="2"/></marker>',
    '</defs>',
    ...lines,
    ...[...boxes.values()].map(drawBox),
    '</svg>',
  ].join('\n')}\n`
}

function place(nodes: readonly GraphNode[], edges: readonly GraphEdge[]): Map<string, Box> {
  const columns = toColumns(nodes, edges)
  const boxes = new Map<string, Box>()
  let x = MARGIN
  for (const column of columns) {
    // Near those it waits for, so that fewer lines cross.
    const wanted = new Map(column.map((node, i) => [node.id, averageOf(node, edges, boxes) ?? i * (HEIGHT + GAP_Y)]))
    const ordered = column.toSorted((a, b) => (wanted.get(a.id) ?? 0) - (wanted.get(b.id) ?? 0))
    const width = Math.max(...column.map(({ label }) => Math.ceil(label.length * LETTER) + 24))
    for (const [i, node] of ordered.entries())
      boxes.set(node.id, { ...node, x, y: MARGIN + i * (HEIGHT + GAP_Y), width })
    x += width + GAP_X
  }
  return boxes
}

/** Columns by the longest way from a node that waits for nothing. */
function toColumns(nodes: readonly GraphNode[], edges: readonly GraphEdge[]): GraphNode[][] {
  const rank = new Map(nodes.map(({ id }) => [id, 0]))
  const depends = edges.filter(({ kind }) => kind === 'depends')
  // Bounded by the number of nodes, should there ever be a cycle.
  for (let round = 0, isMoved = true; isMoved && round < nodes.length; round += 1) {
    isMoved = false
    for (const { from, to } of depends) {
      const behind = (rank.get(from) ?? 0) + 1
      if ((rank.get(to) ?? 0) >= behind) continue
      rank.set(to, behind)
      isMoved = true
    }
  }
  const columns: GraphNode[][] = []
  for (const node of nodes) {
    const at = rank.get(node.id) ?? 0
    columns[at] = [...(columns[at] ?? []), node]
  }
  return columns.map((column) => column ?? [])
}

function averageOf(node: GraphNode, edges: readonly GraphEdge[], boxes: ReadonlyMap<string, Box>): number | undefined {
  const ys = edges.flatMap(({ from, to }) => (to === node.id ? (boxes.get(from)?.y ?? []) : []))
  return ys.length > 0 ? ys.reduce((total, y) => total + y, 0) / ys.length : undefined
}

function drawBox({ label, kind, x, y, width }: Box): string {
  const radius = kind === 'commit' ? HEIGHT / 2 : 5
  const dash = kind === 'earlier' ? ' stroke-dasharray="4 3"' : ''
  return [
    `<rect x="${x}" y="${y}" width="${width}" height="${HEIGHT}" rx="${radius}" fill="#fff" stroke="#445"${dash}/>`,
    `<text x="${x + width / 2}" y="${y + 21}" text-anchor="middle" font-family="monospace" font-size="14" fill="#223">${escaped(label)}</text>`,
  ].join('\n')
}

function drawEdge({ kind, when }: GraphEdge, from: Box, to: Box): string {
  const isRightward = from.x + from.width <= to.x
  const [x1, y1] = [
    isRightward ? from.x + from.width : from.x + from.width / 2,
    isRightward ? from.y + HEIGHT / 2 : from.y,
  ]
  const [x2, y2] = [isRightward ? to.x : to.x + to.width / 2, isRightward ? to.y + HEIGHT / 2 : to.y + HEIGHT]
  const bend = isRightward ? `C${x1 + GAP_X / 2} ${y1} ${x2 - GAP_X / 2} ${y2}` : `C${x1} ${y1 - 30} ${x2} ${y2 + 30}`
  const style =
    kind === 'cancels'
      ? 'stroke="#b32" stroke-dasharray="5 4" marker-end="url(#tee)"'
      : 'stroke="#445" marker-end="url(#arrow)"'
  const words = kind === 'cancels' ? 'cancels' : when ? `when ${when}` : ''
  const line = `<path d="M${x1} ${y1} ${bend} ${x2} ${y2}" fill="none" ${style}/>`
  if (words === '') return line
  const at = `x="${(x1 + x2) / 2}" y="${(y1 + y2) / 2 - 4}"`
  return `${line}\n<text ${at} text-anchor="middle" font-family="monospace" font-size="11" fill="#445">${escaped(words)}</text>`
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}
