// The threads between cells, as lines with corners. Vertical ones join a task to itself at an earlier revision, horizontal
// ones tasks of one revision; those that pass by other cells run in a lane of the row, so that no line lies under a cell.
import { ABSENT, CANCELS, type Cloth, COMMIT, type Row, stateAt } from './cloth.ts'
import { type Layout, ROW, type Window, xOf, yOf } from './layout.ts'
import { isRoot, type Place } from './reach.ts'

export type Thread = {
  readonly is: 'warp' | 'weft' | 'cancels'
  /** What is waited for, or canceled; and who waits, or cancels. */
  readonly from: Place
  readonly to: Place
  /** x and y by turns. */
  readonly points: readonly number[]
}

/** From the middle of a cell to where its threads begin. */
export const REACH = 9
const LANE = ROW / 2 - 3
const ALL_COLUMNS = 40
const ALL_ROWS = 60
const FARTHEST = 60

export type Threading = {
  readonly cloth: Cloth
  readonly at: Layout
  readonly window: Window
  /** The place of each column; -1: it is not shown. */
  readonly places: readonly number[]
  readonly focus: Place | undefined
}

/** Whether all threads are shown: more would be a felt. */
export const showsAll = ({ at, window }: Pick<Threading, 'at' | 'window'>): boolean =>
  at.columns <= ALL_COLUMNS && window.youngest - window.oldest <= ALL_ROWS

/** The threads of a window; where there are too many, those of the focused cell and its column. */
export function threads(given: Threading): readonly Thread[] {
  const { cloth, window, focus } = given
  const isAll = showsAll(given)
  const found: Thread[] = []
  const add = (thread: Thread | undefined) => {
    if (thread !== undefined && (isAll || isOfFocus(thread, focus))) found.push(thread)
  }
  const top = Math.min(cloth.planned, window.youngest + FARTHEST)
  for (let number = top; number >= window.oldest; number -= 1) {
    const row = cloth.rows.get(number)
    if (row === undefined) continue
    if (number <= window.youngest) for (const thread of implicit(given, row)) add(thread)
    for (let i = 0; i < row.edges.length; i += 4) {
      const [from = 0, to = 0, back = 0, kind = 0] = row.edges.subarray(i, i + 4)
      if (number - back > window.youngest) continue
      add(route(given, { number: number - back, column: from }, { number, column: to }, kind))
    }
  }
  return found
}

const isSame = (a: Place, b: Place) => a.number === b.number && a.column === b.column

function isOfFocus({ is, from, to }: Thread, focus: Place | undefined): boolean {
  if (focus === undefined) return false
  const isOfColumn = is === 'warp' && from.column === focus.column && to.column === focus.column
  return isOfColumn || isSame(from, focus) || isSame(to, focus)
}

/** Those that every revision has and nobody sends: COMMIT after COMMIT, and first tasks after COMMIT. */
function* implicit(given: Threading, row: Row): Generator<Thread | undefined> {
  const { cloth } = given
  const { number } = row
  if (cloth.rows.has(number - 1))
    yield route(given, { number: number - 1, column: COMMIT }, { number, column: COMMIT }, 2)
  for (const [column, state] of row.states.entries())
    if (column !== COMMIT && state !== ABSENT && isRoot(row, column))
      yield route(given, { number, column: COMMIT }, { number, column }, 0)
}

function route({ cloth, at, places }: Threading, from: Place, to: Place, kind: number): Thread | undefined {
  const [a, b] = [places[from.column] ?? -1, places[to.column] ?? -1]
  if (a < 0 || b < 0) return undefined
  const [xa, xb] = [xOf(at, a), xOf(at, b)]
  const [ya, yb] = [yOf(at, from.number) + ROW / 2, yOf(at, to.number) + ROW / 2]
  if (kind === CANCELS) return { is: 'cancels', from, to, points: slash(xa, ya, xb, yb) }
  if (from.number === to.number) {
    const row = cloth.rows.get(from.number)
    const isFree = row !== undefined && isBetweenFree(row, places, a, b)
    return { is: 'weft', from, to, points: isFree ? straight(xa, xb, ya) : lane(xa, xb, ya, from.column === COMMIT) }
  }
  return { is: 'warp', from, to, points: a === b ? [xa, ya - REACH, xb, yb + REACH] : bent(xa, ya, xb, yb) }
}

function isBetweenFree(row: Row, places: readonly number[], a: number, b: number): boolean {
  const [low, high] = [Math.min(a, b), Math.max(a, b)]
  return places.every((place, column) => place <= low || place >= high || stateAt(row, column) === ABSENT)
}

function straight(xa: number, xb: number, y: number): number[] {
  const way = Math.sign(xb - xa)
  return [xa + way * REACH, y, xb - way * REACH, y]
}

/** Below the cells; what all tasks have from COMMIT runs above them. */
function lane(xa: number, xb: number, y: number, isAbove: boolean): number[] {
  const way = Math.sign(xb - xa)
  const level = isAbove ? y - LANE : y + LANE
  const [out, into] = [xa + way * (REACH + 4), xb - way * (REACH + 4)]
  return [xa + way * REACH, y, out, y, out, level, into, level, into, y, xb - way * REACH, y]
}

/** Up out of the earlier cell, along the edge between two rows, and up beside the other column into the later cell. */
function bent(xa: number, ya: number, xb: number, yb: number): number[] {
  const edge = ya - ROW / 2
  const beside = xb - (REACH + 5)
  return [xa, ya - REACH, xa, edge, beside, edge, beside, yb, xb - REACH, yb]
}

/** From the later cell down on the right, to the one that it canceled. */
function slash(xa: number, ya: number, xb: number, yb: number): number[] {
  const beside = Math.max(xa, xb) + REACH + 7
  return [xb + REACH, yb, beside, yb, beside, ya, xa + REACH, ya]
}
