// The picture: a canvas for what is in view, and over it a grid for the keyboard and for those who do not see it.
import { type PointerEvent, type ReactNode, useEffect, useLayoutEffect, useMemo, useRef, useState } from 'react'
import type { Chosen } from './choose.ts'
import { frontier } from './frontier.ts'
import { Grid } from './grid.tsx'
import {
  type Hit,
  hit,
  layOut,
  ROW,
  reveal,
  rowCount,
  totalHeight,
  totalWidth,
  type View,
  type Window,
  windowOf,
} from './layout.ts'
import { keyOf, lit, type Place } from './reach.ts'
import { Sheet } from './sheet.ts'
import type { LoomSource } from './source.ts'
import type { Start } from './use-focus.ts'
import { mark } from './use-loom.ts'

export type BoardProps = {
  readonly source: LoomSource
  readonly name: string
  /** The columns that are shown, in their order. */
  readonly order: readonly number[]
  /** The focused cell; its column is -1 for the revision itself. */
  readonly focus: Place | undefined
  readonly chosen: Chosen
  /** What the focused cell says, when more is known than the picture shows. */
  readonly spoken: string | undefined
  readonly gap: (index: number) => ReactNode
  readonly onFocus: (cell: Place) => void
  readonly onOpen: (cell: Place) => void
  readonly onChoose: (cell: Place) => void
  readonly onKeyDown: (event: React.KeyboardEvent, rowsInView: number) => void
  /** The revision at the top of what is in view, when it came to rest. */
  readonly onRest: (number: number, isAtTop: boolean) => void
  readonly start: Start
}

const nowhere: View = { left: 0, top: 0, width: 0, height: 0 }

export function Board(props: BoardProps) {
  const { source, order, focus, chosen } = props
  const { cloth, version } = source
  const scroller = useRef<HTMLDivElement>(null)
  const canvas = useRef<HTMLCanvasElement>(null)
  const rows = useRef<HTMLDivElement>(null)
  const sheet = useRef<Sheet>(undefined)
  const [view, setView] = useState(nowhere)
  const [hover, setHover] = useState<Hit>()
  // biome-ignore lint/correctness/useExhaustiveDependencies: the cloth is changed in place, and version says when
  const at = useMemo(
    () =>
      layOut({
        width: view.width,
        columns: order.length,
        gaps: cloth.gaps.length,
        planned: cloth.planned,
        first: source.first,
      }),
    [view.width, order.length, source.first, version],
  )
  const places = useMemo(() => placesOf(order, cloth.columns.length), [order, cloth.columns.length])
  // biome-ignore lint/correctness/useExhaustiveDependencies: as above
  const reached = useMemo(() => frontier(cloth, order), [cloth, order, version])
  // biome-ignore lint/correctness/useExhaustiveDependencies: as above
  const light = useMemo(
    () => (focus === undefined || focus.column < 0 ? undefined : lit(cloth, focus)),
    [cloth, focus, version],
  )
  const window = windowOf(at, view)

  useSheet(sheet, canvas, rows)
  useSize(scroller, setView)

  useLayoutEffect(() => {
    sheet.current?.look(scroller.current === null ? view : readView(scroller.current))
    sheet.current?.show({
      cloth,
      at,
      order,
      places,
      reached,
      focus,
      lit: light,
      hover,
      isChosen: (cell) => chosen.has(keyOf(cell)),
    })
  })

  useAnchor({ scroller, at, sheet, start: props.start.number })
  const newCount = useNewRows(source, scroller)
  useRest(view, at, props.onRest)
  useEffect(() => {
    if (view.height > 0) source.want({ first: window.oldest, last: window.youngest })
  }, [source, view.height, window.oldest, window.youngest])

  const place = focus === undefined ? undefined : focus.column < 0 ? -1 : (places[focus.column] ?? -1)
  // biome-ignore lint/correctness/useExhaustiveDependencies: it comes into view when the focus moves, not when rows come
  useEffect(() => {
    const element = scroller.current
    if (element === null || focus === undefined || place === undefined || at.columnWidth === 0) return
    const { left, top } = reveal(at, readView(element), focus.number, place)
    if (left !== element.scrollLeft || top !== element.scrollTop) element.scrollTo({ left, top })
  }, [focus?.number, place, at.columnWidth])

  const shown = useRef(props.start)
  // biome-ignore lint/correctness/useExhaustiveDependencies: when somebody else has changed the address, and only then
  useEffect(() => {
    const element = scroller.current
    // A cell that the address names comes into view as the focus does.
    if (element === null || focus !== undefined || shown.current === props.start) return
    shown.current = props.start
    const { number } = props.start
    element.scrollTo({ top: number === undefined ? 0 : reveal(at, readView(element), number, -1).top })
  }, [props.start])

  const onScroll = () => {
    const element = scroller.current
    if (element === null) return
    const next = readView(element)
    sheet.current?.look(next)
    setView((before) => (isOtherWindow(windowOf(at, before), windowOf(at, next)) ? next : before))
  }
  const pointer = usePointer({
    scroller,
    at,
    order,
    onFocus: props.onFocus,
    onOpen: props.onOpen,
    onChoose: props.onChoose,
    setHover,
  })
  const inView = Math.max(1, Math.floor((view.height - at.head) / ROW) - 1)
  return (
    <div className="loom-board">
      {/* biome-ignore lint/a11y/noStaticElementInteractions: the grid inside is what is interactive; this is its pointer */}
      <div
        ref={scroller}
        className="loom-scroll"
        onScroll={onScroll}
        {...pointer}
        onKeyDown={(event) => isWithin(event) && props.onKeyDown(event, inView)}
      >
        <div className="loom-space" style={{ height: totalHeight(at), width: Math.max(totalWidth(at), view.width) }}>
          <div className="loom-sheet" aria-hidden="true">
            <canvas ref={canvas} className="loom-canvas" style={{ width: view.width, height: view.height }} />
          </div>
          <Grid
            {...props}
            ref={rows}
            at={at}
            window={window}
            reached={reached}
            rowCount={rowCount(at)}
            version={version}
          />
        </div>
      </div>
      {newCount > 0 && (
        <button type="button" className="loom-new" onClick={() => scroller.current?.scrollTo({ top: 0 })}>
          ↑ {newCount} new
        </button>
      )}
    </div>
  )
}

/** Makes what draws, for as long as the board is there. */
function useSheet(
  sheet: React.RefObject<Sheet | undefined>,
  canvas: React.RefObject<HTMLCanvasElement | null>,
  rows: Scroller,
): void {
  useEffect(() => {
    if (canvas.current === null) return
    const made = new Sheet(canvas.current, {
      slide: (offset) => {
        if (rows.current !== null) rows.current.style.transform = offset === 0 ? '' : `translateY(${offset}px)`
      },
      drawn: () => mark('loom-drawn'),
    })
    sheet.current = made
    return () => made.close()
  }, [sheet, canvas, rows])
}

function useSize(scroller: Scroller, setView: React.Dispatch<React.SetStateAction<View>>): void {
  useEffect(() => {
    const element = scroller.current
    if (element === null) return
    const watcher = new ResizeObserver(() => setView((before) => sameWindow(before, readView(element))))
    watcher.observe(element)
    return () => watcher.disconnect()
  }, [scroller, setView])
}

const readView = (element: HTMLElement): View => ({
  left: element.scrollLeft,
  top: element.scrollTop,
  width: element.clientWidth,
  height: element.clientHeight,
})

const sameWindow = (before: View, next: View): View =>
  before.width === next.width && before.height === next.height && before.top === next.top && before.left === next.left
    ? before
    : next

const isOtherWindow = (a: Window, b: Window): boolean =>
  a.youngest !== b.youngest || a.oldest !== b.oldest || a.firstPlace !== b.firstPlace || a.lastPlace !== b.lastPlace

function placesOf(order: readonly number[], columns: number): readonly number[] {
  const places = Array.from({ length: columns }, () => -1)
  for (const [place, column] of order.entries()) places[column] = place
  return places
}

type Scroller = React.RefObject<HTMLDivElement | null>

/**
 * New rows at the top slide in when one looks at the top; otherwise what one looks at stays where it is. At first the
 * revision that the address names is brought into view.
 */
function useAnchor({
  scroller,
  at,
  sheet,
  start,
}: {
  readonly scroller: Scroller
  readonly at: ReturnType<typeof layOut>
  readonly sheet: React.RefObject<Sheet | undefined>
  readonly start: number | undefined
}): void {
  const before = useRef<{ top: number; gaps: number }>(undefined)
  useLayoutEffect(() => {
    const element = scroller.current
    if (element === null || at.top === 0) return
    if (before.current === undefined) {
      if (start !== undefined && start < at.top) {
        const { top } = reveal(at, { ...readView(element), top: 0 }, start, -1)
        element.scrollTop = top === 0 ? 0 : top + Math.floor(element.clientHeight / 3)
      }
    } else {
      const added = totalHeightAbove(at) - totalHeightAbove({ ...at, ...before.current })
      if (added !== 0 && element.scrollTop > ROW) element.scrollTop += added
      else if (added > 0) sheet.current?.slideIn(Math.min(added, element.clientHeight))
    }
    before.current = { top: at.top, gaps: at.gaps }
  }, [scroller, at, sheet, start])
}

/** Where a fixed revision lies. */
const totalHeightAbove = (at: ReturnType<typeof layOut>): number => totalHeight({ ...at, bottom: 1 })

/** How many rows have come above since one scrolled away from the top. */
function useNewRows(source: LoomSource, scroller: Scroller): number {
  const { planned } = source.cloth
  const [seen, setSeen] = useState(planned)
  // biome-ignore lint/correctness/useExhaustiveDependencies: it looks again when rows have come
  useEffect(() => {
    const element = scroller.current
    if (element === null) return
    const look = () => {
      if (element.scrollTop <= ROW) setSeen(source.cloth.planned)
    }
    look()
    element.addEventListener('scroll', look, { passive: true })
    return () => element.removeEventListener('scroll', look)
  }, [source, scroller, planned])
  return seen === 0 ? 0 : Math.max(0, planned - seen)
}

function useRest(view: View, at: ReturnType<typeof layOut>, onRest: BoardProps['onRest']): void {
  const latest = useRef(onRest)
  useEffect(() => {
    latest.current = onRest
  })
  useEffect(() => {
    if (view.height === 0 || at.top === 0) return
    const timer = setTimeout(() => {
      const found = hit(at, at.side + 1, view.top + at.head + ROW / 2)
      latest.current(found?.number ?? at.top, view.top <= ROW)
    }, 300)
    return () => clearTimeout(timer)
  }, [view.top, view.height, at])
}

type PointerGiven = Pick<BoardProps, 'order' | 'onFocus' | 'onOpen' | 'onChoose'> & {
  readonly scroller: Scroller
  readonly at: ReturnType<typeof layOut>
  readonly setHover: (hit: Hit | undefined) => void
}

/** React also tells of what happens in a dialog that was opened from in here, and that lies elsewhere on the page. */
const isWithin = (event: React.SyntheticEvent): boolean => event.currentTarget.contains(event.target as Node)

/** Points at cells by where they are, and drags the cloth. */
function usePointer({ scroller, at, order, onFocus, onOpen, onChoose, setHover }: PointerGiven) {
  const drag = useRef<{ x: number; y: number; left: number; top: number; isMoved: boolean }>(undefined)
  const find = (event: { clientX: number; clientY: number }): Hit | undefined => {
    const element = scroller.current
    if (element === null) return undefined
    const box = element.getBoundingClientRect()
    const [x, y] = [event.clientX - box.left, event.clientY - box.top]
    if (y < at.head || x < at.side) return undefined
    return hit(at, x + element.scrollLeft, y + element.scrollTop)
  }
  const isNotOurs = (event: React.SyntheticEvent) =>
    !isWithin(event) || (event.target as Element).closest('a, button') !== null
  return {
    onPointerDown(event: PointerEvent) {
      const element = scroller.current
      if (element === null || event.button !== 0 || event.pointerType !== 'mouse' || isNotOurs(event)) return
      drag.current = {
        x: event.clientX,
        y: event.clientY,
        left: element.scrollLeft,
        top: element.scrollTop,
        isMoved: false,
      }
    },
    onPointerMove(event: PointerEvent) {
      if (!isWithin(event)) return
      const [from, element] = [drag.current, scroller.current]
      if (from !== undefined && element !== null && event.buttons === 1) {
        const [dx, dy] = [event.clientX - from.x, event.clientY - from.y]
        from.isMoved ||= Math.hypot(dx, dy) > 6
        if (from.isMoved) element.scrollTo({ left: from.left - dx, top: from.top - dy })
        return
      }
      const found = find(event)
      setHover(found === undefined || found.place < 0 ? undefined : found)
    },
    onPointerLeave: () => setHover(undefined),
    onClick(event: React.MouseEvent) {
      const isDragged = drag.current?.isMoved === true
      drag.current = undefined
      const found = isDragged || isNotOurs(event) ? undefined : find(event)
      const column = order[found?.place ?? -1]
      if (found === undefined || column === undefined) return
      if (event.ctrlKey || event.metaKey) onChoose({ number: found.number, column })
      else onFocus({ number: found.number, column })
    },
    onDoubleClick(event: React.MouseEvent) {
      const found = find(event)
      const column = order[found?.place ?? -1]
      if (found !== undefined && column !== undefined && !isNotOurs(event)) onOpen({ number: found.number, column })
    },
  }
}
