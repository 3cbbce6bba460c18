// Draws what is in view, and nothing else. Called when something of it has changed.
import { ABSENT, type Cloth, codeOf, stateAt } from './cloth.ts'
import { frontierLine, type Reached } from './frontier.ts'
import { drawGlyph } from './glyphs.ts'
import { GAP, type Hit, type Layout, ROW, type View, type Window, xOf, yOf } from './layout.ts'
import type { Palette } from './palette.ts'
import { keyOf, type Place } from './reach.ts'
import { showsAll, type Thread, threads } from './threads.ts'

export type Scene = {
  readonly cloth: Cloth
  readonly at: Layout
  readonly view: View
  readonly window: Window
  /** The columns as they are shown, and the place of each. */
  readonly order: readonly number[]
  readonly places: readonly number[]
  readonly reached: readonly Reached[]
  readonly focus: Place | undefined
  /** What lights up with the focused cell; undefined: nothing is dimmed. */
  readonly lit: ReadonlySet<number> | undefined
  readonly hover: Hit | undefined
  readonly isChosen: (cell: Place) => boolean
  readonly palette: Palette
  /** How far rows that have just come still have to slide. */
  readonly slide: number
}

const DIM = 0.22
const RADIUS = 6.2

export function paint(pen: CanvasRenderingContext2D, scene: Scene, scale: number): void {
  const { view, palette, slide } = scene
  pen.setTransform(scale, 0, 0, scale, 0, 0)
  pen.clearRect(0, 0, view.width, view.height)
  pen.fillStyle = palette.surface
  pen.fillRect(0, 0, view.width, view.height)
  pen.translate(-view.left, -view.top + slide)
  drawGround(pen, scene)
  drawChanges(pen, scene)
  drawGhosts(pen, scene)
  drawThreads(pen, scene)
  drawFrontier(pen, scene)
  drawCells(pen, scene)
}

/** Hovered row and column, and a soft track for each column from its first revision in view to its last. */
function drawGround(
  pen: CanvasRenderingContext2D,
  { at, view, window, order, cloth, hover, focus, places, palette }: Scene,
): void {
  pen.fillStyle = palette.sunken
  for (let place = window.firstPlace; place <= window.lastPlace; place += 1) {
    const column = order[place] ?? 0
    let [newest, oldest] = [0, 0]
    for (let number = window.youngest; number >= window.oldest; number -= 1) {
      if (cloth.state(number, column) === ABSENT) continue
      newest ||= number
      oldest = number
    }
    if (newest === 0) continue
    const y = yOf(at, newest) + 4
    pen.fillRect(xOf(at, place) - 13, y, 26, yOf(at, oldest) + ROW - 4 - y)
  }
  if (hover !== undefined && hover.number !== focus?.number) {
    pen.globalAlpha = 0.6
    pen.fillRect(view.left, yOf(at, hover.number), view.width, ROW)
    pen.globalAlpha = 1
  }
  if (focus === undefined) return
  pen.fillStyle = palette.soft
  pen.fillRect(view.left, yOf(at, focus.number), view.width, ROW)
  const place = places[focus.column] ?? -1
  if (place >= 0) pen.fillRect(xOf(at, place) - 13, view.top, 26, view.height)
}

/** A band where the workflow files are others than at the revision below. */
function drawChanges(pen: CanvasRenderingContext2D, { at, view, window, cloth, palette }: Scene): void {
  pen.strokeStyle = palette.warn
  pen.lineWidth = 1
  pen.setLineDash([2, 3])
  for (let number = window.youngest; number >= window.oldest; number -= 1) {
    const [row, below] = [cloth.rows.get(number), cloth.rows.get(number - 1)]
    if (row === undefined || below === undefined || row.definition === below.definition) continue
    if (row.definition === '' || below.definition === '') continue
    const y = Math.round(yOf(at, number) + ROW) + 0.5
    pen.beginPath()
    pen.moveTo(view.left, y)
    pen.lineTo(view.left + view.width, y)
    pen.stroke()
  }
  pen.setLineDash([])
}

/** Revisions that were announced and wait to be planned: as the youngest that is planned, but not there yet. */
function drawGhosts(pen: CanvasRenderingContext2D, { at, cloth, window, order, palette }: Scene): void {
  const youngest = cloth.rows.get(cloth.planned)
  pen.strokeStyle = palette.faint
  pen.lineWidth = 1.2
  pen.globalAlpha = 0.55
  pen.setLineDash([2, 2.5])
  for (const [i, gap] of [...cloth.gaps].reverse().entries()) {
    if (gap.reason !== 'not_planned') continue
    for (let place = window.firstPlace; place <= window.lastPlace; place += 1) {
      if (stateAt(youngest, order[place] ?? 0) === ABSENT) continue
      pen.beginPath()
      pen.arc(xOf(at, place), at.head + (i + 0.5) * GAP, RADIUS, 0, Math.PI * 2)
      pen.stroke()
    }
  }
  pen.setLineDash([])
  pen.globalAlpha = 1
}

function drawThreads(pen: CanvasRenderingContext2D, scene: Scene): void {
  const { cloth, at, window, places, focus, lit, palette } = scene
  const all = threads({ cloth, at, window, places, focus })
  const isLit = ({ from, to }: Thread) => lit === undefined || (lit.has(keyOf(from)) && lit.has(keyOf(to)))
  const isPlain = showsAll({ at, window })
  pen.lineJoin = 'round'
  for (const light of [false, true]) {
    pen.globalAlpha = light ? (lit === undefined ? 0.7 : 1) : DIM
    for (const thread of all) {
      if (isLit(thread) !== light) continue
      pen.strokeStyle = lit !== undefined && light ? palette.accent : palette.strong
      pen.lineWidth = lit !== undefined && light ? 1.6 : isPlain ? 1 : 1.2
      pen.setLineDash(thread.is === 'cancels' ? [3, 3] : [])
      trace(pen, thread.points, 4)
    }
  }
  pen.setLineDash([])
  pen.globalAlpha = 1
}

/** A line with rounded corners. */
function trace(pen: CanvasRenderingContext2D, points: readonly number[], radius: number): void {
  pen.beginPath()
  pen.moveTo(points[0] ?? 0, points[1] ?? 0)
  for (let i = 2; i + 3 < points.length; i += 2)
    pen.arcTo(points[i] ?? 0, points[i + 1] ?? 0, points[i + 2] ?? 0, points[i + 3] ?? 0, radius)
  pen.lineTo(points.at(-2) ?? 0, points.at(-1) ?? 0)
  pen.stroke()
}

function drawFrontier(pen: CanvasRenderingContext2D, { at, reached, palette, lit, cloth }: Scene): void {
  if (reached.length === 0 || cloth.rows.size === 0) return
  const points = frontierLine(at, reached)
  pen.strokeStyle = palette.ink
  pen.globalAlpha = lit === undefined ? 0.9 : 0.45
  pen.lineWidth = 2.6
  trace(pen, points, 3)
  pen.globalAlpha = 1
}

function drawCells(pen: CanvasRenderingContext2D, scene: Scene): void {
  const { cloth, at, window, order } = scene
  for (let number = window.youngest; number >= window.oldest; number -= 1) {
    const row = cloth.rows.get(number)
    const y = yOf(at, number) + ROW / 2
    for (let place = window.firstPlace; place <= window.lastPlace; place += 1) {
      const column = order[place] ?? 0
      if (row === undefined) drawUnknown(pen, scene, xOf(at, place), y)
      else if (stateAt(row, column) !== ABSENT) drawCell(pen, scene, { number, column })
    }
  }
  pen.globalAlpha = 1
}

function drawUnknown(pen: CanvasRenderingContext2D, { palette }: Scene, x: number, y: number): void {
  pen.globalAlpha = 1
  pen.fillStyle = palette.line
  pen.fillRect(x - 4, y - 1, 8, 2)
}

function drawCell(pen: CanvasRenderingContext2D, scene: Scene, cell: Place): void {
  const { cloth, palette, lit, focus, at, places } = scene
  const [x, y] = [xOf(at, places[cell.column] ?? 0), yOf(at, cell.number) + ROW / 2]
  const code = cloth.state(cell.number, cell.column)
  const isFocus = focus !== undefined && focus.number === cell.number && focus.column === cell.column
  const isDim = lit !== undefined && !lit.has(keyOf(cell))
  // A gap in the threads around the sign: it stands on them, not in them.
  pen.globalAlpha = 1
  pen.fillStyle = focus?.number === cell.number ? palette.soft : palette.sunken
  pen.beginPath()
  pen.arc(x, y, RADIUS + 2.6, 0, Math.PI * 2)
  pen.fill()
  const isGrey = code === codeOf.waiting || code === codeOf.skipped
  pen.globalAlpha = isDim ? DIM + 0.1 : isGrey ? 0.75 : 1
  drawGlyph(pen, code, { x, y, radius: isFocus ? RADIUS + 1 : RADIUS, colour: palette.states[code] ?? palette.ink })
  if (!scene.isChosen(cell) && !isFocus) return
  pen.globalAlpha = 1
  pen.strokeStyle = isFocus ? palette.focus : palette.accent
  pen.lineWidth = 2
  pen.beginPath()
  pen.roundRect(x - 12.5, y - 12.5, 25, 25, 5)
  pen.stroke()
  if (!scene.isChosen(cell)) return
  pen.fillStyle = palette.accent
  pen.beginPath()
  pen.arc(x + 10.5, y - 10.5, 3.5, 0, Math.PI * 2)
  pen.fill()
}
