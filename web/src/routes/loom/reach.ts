// What a cell waits for, what waits for it, and where to go from it.
import { ABSENT, CANCELS, type Cloth, COMMIT, codeOf, isEnded, isOpen, type Row, stateAt } from './cloth.ts'

export type Place = { readonly number: number; readonly column: number }
export type Link = Place & { readonly kind: number }

const WIDEST = 4096
/** One number for a cell, for sets of them. */
export const keyOf = ({ number, column }: Place): number => number * WIDEST + column

/** How far above a revision one is looked for that waits for it. */
const FARTHEST = 60
const FINISHED = 2
const MOST_LIT = 4000

/** Whether a task waits for nothing within its revision but COMMIT. */
export function isRoot(row: Row, column: number): boolean {
  for (let i = 0; i < row.edges.length; i += 4)
    if (row.edges[i + 1] === column && row.edges[i + 2] === 0 && row.edges[i + 3] !== CANCELS) return false
  return true
}

/** What a cell waits for or cancels: the nearest revisions first. */
export function upstream(cloth: Cloth, { number, column }: Place): readonly Link[] {
  const row = cloth.rows.get(number)
  if (row === undefined || stateAt(row, column) === ABSENT) return []
  if (column === COMMIT)
    return cloth.state(number - 1, COMMIT) === ABSENT ? [] : [{ number: number - 1, column: COMMIT, kind: FINISHED }]
  const found: Link[] = []
  for (let i = 0; i < row.edges.length; i += 4) {
    const [from = 0, to = 0, back = 0, kind = 0] = row.edges.subarray(i, i + 4)
    if (to === column && cloth.state(number - back, from) !== ABSENT)
      found.push({ number: number - back, column: from, kind })
  }
  if (isRoot(row, column)) found.push({ number, column: COMMIT, kind: 0 })
  return found.sort((a, b) => b.number - a.number)
}

/** What waits for a cell or cancels it: its own revision first. */
export function downstream(cloth: Cloth, { number, column }: Place): readonly Link[] {
  const found: Link[] = []
  for (let above = 0; above <= FARTHEST; above += 1) {
    const row = cloth.rows.get(number + above)
    if (row === undefined) continue
    for (let i = 0; i < row.edges.length; i += 4) {
      const [from = 0, to = 0, back = 0, kind = 0] = row.edges.subarray(i, i + 4)
      if (from === column && back === above && stateAt(row, to) !== ABSENT)
        found.push({ number: row.number, column: to, kind })
    }
    if (column !== COMMIT || above > 1) continue
    if (above === 1) found.push({ number: row.number, column: COMMIT, kind: FINISHED })
    else
      for (const [other, state] of row.states.entries())
        if (other !== COMMIT && state !== ABSENT && isRoot(row, other))
          found.push({ number: row.number, column: other, kind: 0 })
  }
  return found
}

/**
 * What lights up with a cell: both ways through its own revision, one step into others, and further there only along what
 * has not ended. All the past is upstream of everything; nobody wants to see that.
 */
export function lit(cloth: Cloth, cell: Place): ReadonlySet<number> {
  const found = new Set<number>([keyOf(cell)])
  for (const next of [upstream, downstream]) for (const key of spread(cloth, cell, next)) found.add(key)
  return found
}

function spread(cloth: Cloth, cell: Place, next: typeof upstream): ReadonlySet<number> {
  const seen = new Set<number>([keyOf(cell)])
  const isWorth = (from: Place, to: Place) =>
    to.number === cell.number || from === cell || isOpen(cloth.state(to.number, to.column))
  let edge: readonly Place[] = [cell]
  while (edge.length > 0 && seen.size < MOST_LIT) {
    const reached = edge.flatMap((from) => next(cloth, from).filter((to) => isWorth(from, to)))
    edge = reached.filter((to) => !seen.has(keyOf(to)))
    for (const to of edge) seen.add(keyOf(to))
  }
  return seen
}

/** Whether what was waited for has come, and cannot come any more. */
function isUnmet(state: number, kind: number): boolean {
  if (!isEnded(state)) return true
  if (kind === FINISHED) return false
  return kind === 1 ? state !== codeOf.failed : state !== codeOf.succeeded
}

/** What stands in the way of a cell: a requirement that is not met, or what superseded it. */
export function blocker(cloth: Cloth, cell: Place): Place | undefined {
  const state = cloth.state(cell.number, cell.column)
  if (state === codeOf.superseded)
    return downstream(cloth, cell)
      .filter(({ kind }) => kind === CANCELS)
      .sort((a, b) => a.number - b.number)[0]
  const unmet = upstream(cloth, cell).filter(
    (link) => link.kind !== CANCELS && isUnmet(cloth.state(link.number, link.column), link.kind),
  )
  const rank = ({ number, column }: Place) => (cloth.state(number, column) === codeOf.running ? 0 : 1)
  return unmet.sort((a, b) => rank(a) - rank(b))[0]
}

/** What waits for a cell: one that has not ended before one that has. */
export function dependant(cloth: Cloth, cell: Place): Place | undefined {
  const all = downstream(cloth, cell).filter(({ kind }) => kind !== CANCELS)
  return all.find(({ number, column }) => isOpen(cloth.state(number, column))) ?? all[0]
}

/** The next failure among the loaded rows: downwards and to the right, or back. `order` is that of the columns. */
export function failure(cloth: Cloth, order: readonly number[], from: Place, step: 1 | -1): Place | undefined {
  const numbers = [...cloth.rows.keys()].sort((a, b) => b - a)
  const all = numbers.flatMap((number) =>
    order.flatMap((column) => (cloth.state(number, column) === codeOf.failed ? [{ number, column }] : [])),
  )
  const rank = ({ number, column }: Place) => -number * WIDEST + order.indexOf(column)
  const at = rank(from)
  return step === 1 ? all.find((one) => rank(one) > at) : all.findLast((one) => rank(one) < at)
}
