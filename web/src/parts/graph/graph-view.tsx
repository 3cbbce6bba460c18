import { createLink } from '@tanstack/react-router'
import { type AnchorHTMLAttributes, type KeyboardEvent, type Ref, useEffect, useMemo, useRef, useState } from 'react'
import { Loading } from '../panel.tsx'
import type { Graph, GraphEdge, GraphNode } from './graph.ts'
import { groupNodes } from './group-nodes.ts'
import type { LaidOut, Point } from './lay-out.ts'
import { related, speakEdges, speakNode } from './speak.ts'
import { stepTo, type Way } from './step-to.ts'
import { useLayout } from './use-layout.ts'
import './graph.css'

const HEIGHT = 32
const LETTER = 7.3
const MOST_LETTERS = 26

type GraphViewProps = {
  readonly graph: Graph
  readonly label: string
  /** Keeps the first running node in sight. */
  readonly isFollowing?: boolean
}

const shorten = (label: string) => {
  const letters = Array.from(label)
  return letters.length > MOST_LETTERS ? `${letters.slice(0, MOST_LETTERS - 1).join('')}…` : label
}

const widthOf = ({ label, look }: GraphNode) =>
  Math.round(Array.from(shorten(label)).length * LETTER + (look === undefined ? 24 : 42))

/** Tasks and what they wait for, drawn. Arrows lead from one to the next; each says its state. */
export function GraphView({ graph, label, isFollowing = false }: GraphViewProps) {
  const drawn = useMemo(() => groupNodes(graph), [graph])
  const boxes = drawn.nodes.map((node) => ({ id: node.id, width: widthOf(node), height: HEIGHT }))
  const lines = drawn.edges.map(({ from, to, kind }) => ({ from, to, isCancel: kind === 'cancels' }))
  const layout = useLayout(boxes, lines)
  if (layout.is === 'pending') return <Loading />
  if (layout.is === 'failed') return <p role="alert">{layout.message}</p>
  const isOf = drawn.nodes.every(({ id }) => layout.laidOut.places[id] !== undefined)
  if (!isOf || layout.laidOut.paths.length !== drawn.edges.length) return <Loading />
  return (
    <>
      {drawn.nodes.length < graph.nodes.length && (
        <p className="graph-cut">
          {graph.nodes.length} tasks are too many to draw: those alike are one box here. The list has all of them.
        </p>
      )}
      <Drawing graph={drawn} laidOut={layout.laidOut} label={label} isFollowing={isFollowing} />
    </>
  )
}

type DrawingProps = { readonly graph: Graph; readonly laidOut: LaidOut; readonly label: string; isFollowing: boolean }

function Drawing({ graph, laidOut, label, isFollowing }: DrawingProps) {
  const frame = useRef<HTMLDivElement>(null)
  const first = graph.nodes.find(({ kind }) => kind === 'commit')?.id ?? graph.nodes[0]?.id
  const [active, setActive] = useState(first)
  const [looked, setLooked] = useState<string>()
  const spoken = useMemo(() => speakEdges(graph), [graph])
  const lit = useMemo(() => (looked === undefined ? undefined : related(graph.edges, looked)), [graph.edges, looked])
  const running = graph.nodes.find(({ look }) => look?.colour === 'running')?.id
  useEffect(() => {
    const box = frame.current
    const place = isFollowing && running !== undefined ? laidOut.places[running] : undefined
    if (box === null || place === undefined) return
    box.scrollTo({ left: place.x - box.clientWidth / 2, top: place.y - box.clientHeight / 2, behavior: 'smooth' })
  }, [isFollowing, running, laidOut])
  const tabStop = active !== undefined && laidOut.places[active] !== undefined ? active : first
  const onKeyDown = (event: KeyboardEvent) => {
    if (!event.key.startsWith('Arrow') || tabStop === undefined || event.ctrlKey || event.metaKey || event.altKey)
      return
    event.preventDefault()
    const next = stepTo(laidOut.places, tabStop, event.key as Way)
    if (next === undefined) return
    setActive(next)
    frame.current?.querySelector<SVGElement>(`[data-node="${CSS.escape(next)}"]`)?.focus()
  }
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the nodes inside have the focus, their keys are heard here
    <div className="graph-frame" ref={frame} onKeyDown={onKeyDown} onPointerLeave={() => setLooked(undefined)}>
      {/* biome-ignore lint/a11y/useSemanticElements: a fieldset cannot be drawn in */}
      <svg
        className="graph"
        role="group"
        aria-label={`${label}. Arrow keys lead from task to task.`}
        width={laidOut.width}
        height={laidOut.height}
        viewBox={`0 0 ${laidOut.width} ${laidOut.height}`}
      >
        <Marks />
        {graph.edges.map((edge, i) => (
          <Edge key={`${edge.from} ${edge.to} ${edge.kind}`} edge={edge} points={laidOut.paths[i] ?? []} lit={lit} />
        ))}
        {graph.nodes.map((node) => (
          <Node
            key={node.id}
            node={node}
            at={laidOut.places[node.id] as Point}
            name={speakNode(node, spoken(node.id))}
            isTabStop={node.id === tabStop}
            isDim={lit !== undefined && !lit.has(node.id)}
            onLook={(isLooked) => setLooked(isLooked ? node.id : undefined)}
            onFocus={() => setActive(node.id)}
          />
        ))}
      </svg>
    </div>
  )
}

function Marks() {
  return (
    <defs>
      {(['depends', 'cancels'] as const).map((kind) => (
        <marker
          key={kind}
          id={`graph-${kind}`}
          className={`graph-mark graph-mark-${kind}`}
          viewBox="0 0 8 8"
          refX={kind === 'depends' ? 7 : 4}
          refY={4}
          markerWidth={7}
          markerHeight={7}
          orient="auto"
        >
          <path d={kind === 'depends' ? 'M1 1 L7 4 L1 7' : 'M4 0 L4 8'} />
        </marker>
      ))}
    </defs>
  )
}

/** A smooth line through the points. */
function curve(points: readonly Point[]): string {
  const [start, ...rest] = points
  if (start === undefined) return ''
  let at = start
  const parts = rest.map((point) => {
    const middle = (at.x + point.x) / 2
    const part = `C${middle} ${at.y} ${middle} ${point.y} ${point.x} ${point.y}`
    at = point
    return part
  })
  return `M${start.x} ${start.y}${parts.join('')}`
}

type EdgeProps = { readonly edge: GraphEdge; readonly points: readonly Point[]; lit: ReadonlySet<string> | undefined }

function Edge({ edge: { from, to, kind, when }, points, lit }: EdgeProps) {
  const isDim = lit !== undefined && !(lit.has(from) && lit.has(to))
  const middle = points[Math.floor(points.length / 2)]
  return (
    // biome-ignore lint/a11y/noAriaHiddenOnFocusable: a g takes no focus; the nodes say in words what the lines mean
    <g className={`graph-edge graph-edge-${kind}`} data-dim={isDim || undefined} aria-hidden="true">
      <path d={curve(points)} markerEnd={`url(#graph-${kind})`} />
      {when !== undefined && when !== null && middle !== undefined && (
        <text x={middle.x} y={middle.y - 5} textAnchor="middle">
          {when}
        </text>
      )}
    </g>
  )
}

type NodeProps = {
  readonly node: GraphNode
  readonly at: Point
  readonly name: string
  readonly isTabStop: boolean
  readonly isDim: boolean
  readonly onLook: (isLooked: boolean) => void
  readonly onFocus: () => void
}

function Node({ node, at, name, isTabStop, isDim, onLook, onFocus }: NodeProps) {
  const { kind, look, label, place } = node
  const width = widthOf(node)
  const shared = {
    className: `graph-node graph-node-${kind} ${look === undefined ? '' : `state-${look.colour}`}`,
    'data-node': node.id,
    'data-dim': isDim || undefined,
    'aria-label': name,
    tabIndex: isTabStop ? 0 : -1,
    onFocus: () => {
      onFocus()
      onLook(true)
    },
    onBlur: () => onLook(false),
    onPointerEnter: () => onLook(true),
    transform: `translate(${at.x - width / 2} ${at.y - HEIGHT / 2})`,
  }
  const content = (
    <>
      <title>{name}</title>
      <rect width={width} height={HEIGHT} rx={kind === 'commit' ? HEIGHT / 2 : 6} />
      {look !== undefined && (
        <text className="graph-glyph" x={12} y={21}>
          {look.glyph}
        </text>
      )}
      <text x={look === undefined ? 12 : 29} y={21}>
        {shorten(label)}
      </text>
    </>
  )
  if (place === undefined) {
    return (
      // biome-ignore lint/a11y/noInteractiveElementToNoninteractiveRole: it is reached by arrows to be heard, and does nothing
      <g {...shared} role="img">
        {content}
      </g>
    )
  }
  return (
    <SvgLink to="/archives/$name/r/$rev/$task" params={place} {...shared}>
      {content}
    </SvgLink>
  )
}

type SvgAnchor = AnchorHTMLAttributes<HTMLAnchorElement> & { readonly ref?: Ref<HTMLAnchorElement>; transform?: string }

function PlainSvgAnchor({ ref, transform, ...props }: SvgAnchor) {
  // Within an svg React makes the link of SVG, which takes a transform.
  return <a ref={ref} {...props} {...{ transform }} />
}

const SvgLink = createLink(PlainSvgAnchor)
