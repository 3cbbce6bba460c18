// Cells that were chosen, and what can be done with them.
import { ABSENT, type CellState, type Cloth, cellStates, isEnded, isOpen } from './cloth.ts'
import { keyOf, type Place } from './reach.ts'

export const verbs = ['retry', 'rerun', 'cancel', 'hold', 'release', 'skip'] as const
export type Verb = (typeof verbs)[number]

const idle: readonly CellState[] = ['waiting', 'delayed', 'ready']

/** Which states the server lets a verb begin from. It looks again. */
export function allows(verb: Verb, code: number): boolean {
  const state = cellStates[code]
  if (state === undefined || code === ABSENT) return false
  if (verb === 'retry') return isEnded(code) && state !== 'succeeded'
  if (verb === 'rerun') return state === 'succeeded'
  if (verb === 'cancel') return isOpen(code)
  if (verb === 'release') return state === 'held'
  return idle.includes(state) || (verb === 'skip' && state === 'held')
}

/** The existing cells of the rectangle between two, by the order of columns. */
export function rectangle(cloth: Cloth, order: readonly number[], a: Place, b: Place): readonly Place[] {
  const [x1, x2] = [order.indexOf(a.column), order.indexOf(b.column)]
  const columns = order.slice(Math.min(x1, x2), Math.max(x1, x2) + 1)
  const found: Place[] = []
  for (let number = Math.max(a.number, b.number); number >= Math.min(a.number, b.number); number -= 1)
    for (const column of columns) if (cloth.state(number, column) !== ABSENT) found.push({ number, column })
  return found
}

export type Chosen = ReadonlyMap<number, Place>

export function toggle(chosen: Chosen, cell: Place): Chosen {
  const next = new Map(chosen)
  if (!next.delete(keyOf(cell))) next.set(keyOf(cell), cell)
  return next
}

export const chosenOf = (cells: readonly Place[]): Chosen => new Map(cells.map((cell) => [keyOf(cell), cell]))

/** Those of the chosen cells with which the verb can be done now. */
export function fitting(cloth: Cloth, chosen: Iterable<Place>, verb: Verb): readonly Place[] {
  return [...chosen].filter(({ number, column }) => allows(verb, cloth.state(number, column)))
}
