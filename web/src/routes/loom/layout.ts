// Where things are. The top row is the youngest revision; above it are the gaps, if there are any. All is in CSS pixels,
// measured from the top left corner of what scrolls.

export const ROW = 30
export const GAP = 44
const NARROWEST = 46
const WIDEST = 132
const WIDEST_SIDE = 360
/** Below this width the names of columns stand slanted. */
const SLANTED = 92

export type Layout = {
  /** Of the column with revision, author and age. */
  readonly side: number
  readonly head: number
  readonly columnWidth: number
  readonly isSlanted: boolean
  readonly columns: number
  readonly gaps: number
  /** The youngest planned revision, and the oldest that is shown. */
  readonly top: number
  readonly bottom: number
}

export type View = { readonly left: number; readonly top: number; readonly width: number; readonly height: number }

/** A browser cannot scroll over more than some 17 million pixels. */
const MOST_ROWS_HIGH = 500_000

export type Asked = {
  readonly width: number
  readonly columns: number
  readonly gaps: number
  readonly planned: number
  readonly first: number
}

export function layOut({ width, columns, gaps, planned, first }: Asked): Layout {
  // What narrow columns leave goes to the messages of commits, which are read more than names of tasks.
  const left = width - 24 - columns * NARROWEST
  const side = Math.round(Math.min(WIDEST_SIDE, Math.max(190, width * 0.36, left)))
  const free = (width - side - 24) / Math.max(1, columns)
  const columnWidth = Math.round(Math.min(WIDEST, Math.max(NARROWEST, free)))
  const isSlanted = columnWidth < SLANTED
  const bottom = Math.max(first, planned - MOST_ROWS_HIGH + 1)
  return { side, head: isSlanted ? 96 : 38, columnWidth, isSlanted, columns, gaps, top: planned, bottom }
}

export const rowCount = ({ top, bottom }: Layout): number => Math.max(0, top - bottom + 1)
export const totalHeight = (at: Layout): number => at.head + at.gaps * GAP + rowCount(at) * ROW + 8
export const totalWidth = (at: Layout): number => at.side + at.columns * at.columnWidth + 24

/** The upper edge of a revision. */
export const yOf = (at: Layout, number: number): number => at.head + at.gaps * GAP + (at.top - number) * ROW
/** The middle of a column, by its place. */
export const xOf = (at: Layout, place: number): number => at.side + (place + 0.5) * at.columnWidth

export type Window = {
  readonly youngest: number
  readonly oldest: number
  readonly firstPlace: number
  readonly lastPlace: number
}

/** The revisions and columns that are in view, and a few beyond it. */
export function windowOf(at: Layout, view: View, beyond = 4): Window {
  const under = view.top - at.gaps * GAP
  const first = Math.floor(under / ROW) - beyond
  const last = Math.ceil((under + view.height - at.head) / ROW) + beyond
  const place = (x: number) => Math.floor((x - at.side) / at.columnWidth)
  return {
    youngest: Math.min(at.top, at.top - Math.max(0, first)),
    oldest: Math.max(at.bottom, at.top - last),
    firstPlace: Math.max(0, place(view.left + at.side) - 1),
    lastPlace: Math.min(at.columns - 1, place(view.left + view.width) + 1),
  }
}

export type Hit = { readonly number: number; readonly place: number }

/** The cell at a point of what scrolls; `place` is -1 beside the cells. Undefined: none. */
export function hit(at: Layout, x: number, y: number): Hit | undefined {
  const row = Math.floor((y - at.head - at.gaps * GAP) / ROW)
  const number = at.top - row
  if (row < 0 || number < at.bottom) return undefined
  const place = Math.floor((x - at.side) / at.columnWidth)
  return { number, place: place >= 0 && place < at.columns ? place : -1 }
}

/** Where to scroll so that a cell is in view, from where it is now; the same when it is. */
export function reveal(at: Layout, view: View, number: number, place: number): { left: number; top: number } {
  const y = yOf(at, number)
  const x = xOf(at, place) - at.columnWidth / 2
  const [least, most] = [y + ROW - view.height + 8, y - at.head - 4]
  const top = Math.min(most, Math.max(least, view.top))
  const [leastLeft, mostLeft] = [x + at.columnWidth - view.width, x - at.side]
  const left = place < 0 ? view.left : Math.min(mostLeft, Math.max(leastLeft, view.left))
  return { left: Math.max(0, left), top: Math.max(0, top) }
}
