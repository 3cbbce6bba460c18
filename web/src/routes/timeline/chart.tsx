import { useVirtualizer } from '@tanstack/react-virtual'
import { type PointerEvent, useEffect, useRef, useState } from 'react'
import { Link } from '../../parts/link.tsx'
import { TaskLink } from '../../parts/task-link.tsx'
import type { Bar, Item, Row } from './rows-of.ts'
import { tickFormat, ticksOf, type Window } from './window.ts'

const LANE = 16
const PADDING = 10
/** A shorter drag is a click. */
const LEAST_BRUSH = 6

export type Typical = { readonly task: string; readonly p10: number; readonly p90: number }

type ChartProps = {
  readonly rows: readonly Row[]
  readonly window: Window
  readonly now: number
  readonly isNarrow: boolean
  /** All tasks are of one archive. */
  readonly isInArchive: boolean
  readonly typical: Typical | undefined
  readonly onZoom: (window: Window) => void
  readonly onFit: () => void
  readonly onLook: (item: Item) => void
}

/** A row for each thing, a bar for each stretch of its time. */
export function Chart(props: ChartProps) {
  const { rows, window, isNarrow } = props
  const frame = useRef<HTMLDivElement>(null)
  const width = useWidth(frame)
  const head = isNarrow ? 0 : props.isInArchive ? 208 : 272
  const plot = Math.max(120, width - head - 32)
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => frame.current,
    estimateSize: (i) => (rows[i]?.lanes ?? 1) * LANE + PADDING + (isNarrow ? 20 : 0),
    overscan: 8,
  })
  // biome-ignore lint/correctness/useExhaustiveDependencies: other rows have other heights, which are measured anew
  useEffect(() => virtual.measure(), [virtual, rows, isNarrow])
  const x = (at: number) => ((at - window.from) / (window.to - window.from)) * plot
  const brush = useBrush({ window, plot, onZoom: props.onZoom })
  return (
    <div className="timeline-frame" ref={frame}>
      <Axis window={window} plot={plot} head={head} x={x} />
      {/* biome-ignore lint/a11y/noStaticElementInteractions: what is done here by pointer, keys and buttons do as well */}
      <div
        className="timeline-rows"
        style={{ height: virtual.getTotalSize() }}
        onDoubleClick={props.onFit}
        {...brush.handlers}
        data-head={head}
      >
        {virtual.getVirtualItems().map(({ key, index, start, size }) => {
          const row = rows[index] as Row
          return (
            <div key={key} className="timeline-row" style={{ height: size, transform: `translateY(${start}px)` }}>
              <RowHead
                row={row}
                width={isNarrow ? undefined : head}
                isInArchive={props.isInArchive}
                onLook={props.onLook}
              />
              <Bars {...props} row={row} x={x} plot={plot} />
            </div>
          )
        })}
        <div className="timeline-over" style={{ left: head, width: plot }} aria-hidden="true">
          {props.now >= window.from && props.now <= window.to && (
            <div className="timeline-now" style={{ left: x(props.now) }} />
          )}
          {brush.drawn !== undefined && (
            <div className="timeline-brush" style={{ left: brush.drawn.left, width: brush.drawn.width }} />
          )}
        </div>
      </div>
    </div>
  )
}

function useWidth(of: { readonly current: HTMLElement | null }): number {
  const [width, setWidth] = useState(0)
  useEffect(() => {
    const element = of.current
    if (element === null) return
    const observer = new ResizeObserver(() => setWidth(element.clientWidth))
    observer.observe(element)
    return () => observer.disconnect()
  }, [of])
  return width
}

type Brush = { readonly window: Window; readonly plot: number; readonly onZoom: (window: Window) => void }

/** Drawing over a part of time shows that part. */
function useBrush({ window, plot, onZoom }: Brush) {
  const [drag, setDrag] = useState<{ readonly start: number; readonly end: number }>()
  const place = (event: PointerEvent<HTMLElement>) => {
    const box = event.currentTarget.getBoundingClientRect()
    return Math.min(plot, Math.max(0, event.clientX - box.left - Number(event.currentTarget.dataset['head'])))
  }
  const handlers = {
    onPointerDown: (event: PointerEvent<HTMLElement>) => {
      if (event.button !== 0 || event.pointerType === 'touch' || (event.target as Element).closest('a') !== null) return
      const at = place(event)
      setDrag({ start: at, end: at })
      event.currentTarget.setPointerCapture(event.pointerId)
    },
    onPointerMove: (event: PointerEvent<HTMLElement>) => {
      if (drag !== undefined) setDrag({ ...drag, end: place(event) })
    },
    onPointerUp: (event: PointerEvent<HTMLElement>) => {
      if (drag === undefined) return
      setDrag(undefined)
      const end = place(event)
      if (Math.abs(end - drag.start) < LEAST_BRUSH) return
      const time = (at: number) => window.from + (at / plot) * (window.to - window.from)
      onZoom({ from: time(Math.min(drag.start, end)), to: time(Math.max(drag.start, end)) })
    },
    onPointerCancel: () => setDrag(undefined),
  }
  const drawn =
    drag === undefined ? undefined : { left: Math.min(drag.start, drag.end), width: Math.abs(drag.end - drag.start) }
  return { handlers, drawn }
}

type Scale = (at: number) => number

function Axis({ window, plot, head, x }: { window: Window; plot: number; head: number; x: Scale }) {
  const { at, step } = ticksOf(window, plot / 110)
  const format = tickFormat(step)
  return (
    <svg className="timeline-axis" width={head + plot} height={24} aria-hidden="true">
      {at.map((time) => (
        <g key={time} transform={`translate(${head + x(time)} 0)`}>
          <line y1={18} y2={24} />
          <text x={3} y={14}>
            {format.format(time)}
          </text>
        </g>
      ))}
    </svg>
  )
}

type RowHeadProps = Pick<ChartProps, 'isInArchive' | 'onLook'> & {
  readonly row: Row
  readonly width: number | undefined
}

function RowHead({ row, width, isInArchive, onLook }: RowHeadProps) {
  const [first] = row.items as [Item]
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the link inside has the focus
    <div className="timeline-head" style={{ width }} onFocus={() => onLook(first)} onPointerEnter={() => onLook(first)}>
      {row.isCritical && (
        <span className="timeline-critical" title="on the critical path">
          <span aria-hidden="true">▸</span>
          <span className="visually-hidden">critical: </span>
        </span>
      )}
      {row.label === undefined ? (
        <TaskLink task={first} isInArchive={isInArchive} />
      ) : row.filter === undefined ? (
        <span className="mono name">
          {row.label} <span className="muted">({row.items.length})</span>
        </span>
      ) : (
        <Link to="/tasks" search={{ q: row.filter }} className="mono name">
          {row.label} <span className="muted">({row.items.length})</span>
        </Link>
      )}
    </div>
  )
}

type BarsProps = ChartProps & { readonly row: Row; readonly x: Scale; readonly plot: number }

function Bars({ row, x, plot, now, window, typical, onLook }: BarsProps) {
  const seen = row.bars.filter(({ from, to }) => from <= window.to && Math.min(to, now) >= window.from)
  return (
    <svg className="timeline-bars" width={plot} height={row.lanes * LANE + PADDING} aria-hidden="true">
      {seen.map((bar) => (
        <BarShape key={`${bar.item.id} ${bar.from}`} bar={bar} row={row} x={x} plot={plot} now={now} onLook={onLook} />
      ))}
      {seen
        .filter(({ item, kind }) => kind === 'running' && item.id === typical?.task)
        .slice(-1)
        .map(({ from, lane }) => (
          <Bracket key="typical" from={x(from + (typical?.p10 ?? 0))} to={x(from + (typical?.p90 ?? 0))} lane={lane} />
        ))}
    </svg>
  )
}

type ShapeProps = { bar: Bar; row: Row; x: Scale; plot: number; now: number; onLook: (item: Item) => void }

function BarShape({ bar, row, x, plot, now, onLook }: ShapeProps) {
  const left = Math.max(-4, x(bar.from))
  const right = Math.min(plot + 4, x(Math.min(bar.to, now)))
  const isRunning = bar.kind === 'running'
  const height = row.isCritical ? 14 : isRunning ? 9 : 5
  const state = isRunning && bar.outcome !== null ? bar.outcome : bar.kind
  return (
    <rect
      className={`timeline-bar timeline-${bar.kind} timeline-of-${state}`}
      data-critical={row.isCritical || undefined}
      x={left}
      y={PADDING / 2 + bar.lane * LANE + (LANE - height) / 2}
      width={Math.max(isRunning ? 2 : 0.5, right - left)}
      height={height}
      rx={2}
      onPointerEnter={() => onLook(bar.item)}
    />
  )
}

/** From where to where such a task usually ends. */
function Bracket({ from, to, lane }: { readonly from: number; readonly to: number; readonly lane: number }) {
  const y = PADDING / 2 + lane * LANE
  return (
    <path
      className="timeline-typical"
      d={`M${from} ${y}V${y + LANE}M${from} ${y + LANE / 2}H${to}M${to} ${y}V${y + LANE}`}
    />
  )
}
