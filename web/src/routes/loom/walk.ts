// Where a key leads: the next cell from the focused one.
import type { Cloth } from './cloth.ts'
import type { Reached } from './frontier.ts'
import type { Command } from './keys.ts'
import { blocker, dependant, failure, type Place } from './reach.ts'

export type Walk = {
  readonly cloth: Cloth
  readonly order: readonly number[]
  readonly reached: readonly Reached[]
  /** The oldest revision there is. */
  readonly first: number
  readonly rowsInView: number
}

/** The column of a revision itself, left of all tasks. */
export const SIDE = -1

/** The cell that a command leads to; a sentence when there is none. Undefined: it is no command to walk. */
export function walk(
  { cloth, order, reached, first, rowsInView }: Walk,
  from: Place,
  command: Command,
): Place | string | undefined {
  const within = (number: number) => Math.min(cloth.planned, Math.max(first, number))
  const place = from.column === SIDE ? -1 : order.indexOf(from.column)
  const at = (next: number) => (next < 0 ? SIDE : (order[Math.min(next, order.length - 1)] ?? SIDE))
  switch (command.do) {
    case 'move':
      return { number: within(from.number - command.rows), column: at(place + command.columns) }
    case 'page':
      return { number: within(from.number - command.way * rowsInView), column: from.column }
    case 'edge':
      if (command.to === 'top' || command.to === 'bottom')
        return { number: command.to === 'top' ? cloth.planned : first, column: from.column }
      return { number: from.number, column: command.to === 'first' ? at(0) : at(order.length - 1) }
    case 'blocker':
      return blocker(cloth, from) ?? 'Nothing blocks it'
    case 'dependant':
      return dependant(cloth, from) ?? 'Nothing depends on it'
    case 'next failure':
      return failure(cloth, order, from, 1) ?? 'No more failures among the revisions that are loaded'
    case 'previous failure':
      return failure(cloth, order, from, -1) ?? 'No failures above it'
    case 'frontier': {
      const found = reached.find(({ column }) => column === from.column)
      return found === undefined || found.number === null
        ? 'None of the revisions that are loaded has come to a result'
        : { number: found.number, column: from.column }
    }
    case 'open':
    case 'log':
    case 'timeline':
    case 'choose':
    case 'retry':
    case 'cancel':
    case 'leave':
      return undefined
  }
}
