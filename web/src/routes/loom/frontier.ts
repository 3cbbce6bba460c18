// How far each task has got. A task that was superseded has got nowhere: its successor goes on in its stead. The command
// line tells the same by `src/cli/frontier.ts`: the tests of both have the same cases.
import { ABSENT, type Cloth, codeOf } from './cloth.ts'
import { type Layout, yOf } from './layout.ts'

export type Reached = {
  readonly column: number
  /** The newest revision at which the task came to a result; null: none of those that were looked at. */
  readonly number: number | null
  /** How many revisions that is behind the newest that has the task. 0: it lacks nothing. */
  readonly behind: number
  /** There may be one further down. */
  readonly isAtLeast: boolean
}

const hasResult = (state: number) => state === codeOf.succeeded || state === codeOf.failed

/** Looks from the top down as far as revisions are loaded without a break. */
export function frontier(cloth: Cloth, order: readonly number[]): readonly Reached[] {
  const open = new Map(order.map((column) => [column, undefined as number | undefined]))
  const found = new Map<number, Reached>()
  let number = cloth.planned
  for (let row = cloth.rows.get(number); row !== undefined && open.size > 0; row = cloth.rows.get(number)) {
    for (const [column, newest] of open) {
      const state = row.states[column] ?? ABSENT
      if (state === ABSENT) continue
      if (newest === undefined) open.set(column, number)
      if (!hasResult(state)) continue
      found.set(column, { column, number, behind: (newest ?? number) - number, isAtLeast: false })
      open.delete(column)
    }
    number -= 1
  }
  return order.map((column) => {
    const newest = open.get(column)
    const behind = newest === undefined ? 0 : newest - number
    return found.get(column) ?? { column, number: null, behind, isAtLeast: behind > 0 }
  })
}

const NAMED = 4

/** `indexing −1, build-PDF −4`; what lags most is named when there are many. */
export function tellFrontier(cloth: Cloth, reached: readonly Reached[]): string {
  const lagging = reached.filter(({ behind }) => behind > 0)
  if (lagging.length === 0) return 'nothing lags'
  const named = lagging.length <= NAMED ? lagging : [...lagging].sort((a, b) => b.behind - a.behind).slice(0, NAMED)
  const told = named.map(({ column, behind, isAtLeast }) => {
    const name = cloth.columns[column]?.name ?? ''
    return `${name} −${behind}${isAtLeast ? ' or more' : ''}`
  })
  const rest = lagging.length - named.length
  return told.join(', ') + (rest > 0 ? ` and ${rest} more` : '')
}

/**
 * The line: x and y by turns. Under it everything has come to a result, over it something is under way; it runs along the
 * upper edges of rows and steps between columns. Where a task lacks nothing it runs at the top.
 */
export function frontierLine(at: Layout, reached: readonly Reached[]): readonly number[] {
  const points: number[] = []
  for (const [place, { number, behind }] of reached.entries()) {
    const row = behind === 0 ? at.top : (number ?? at.top - behind)
    const x = at.side + place * at.columnWidth
    const y = yOf(at, row) + 0.5
    points.push(x, y, x + at.columnWidth, y)
  }
  return points
}
