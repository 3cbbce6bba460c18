// The cell that an address names, and whose address it is: the loom writes where one walks, and follows what others write.
import type { Cloth } from './cloth.ts'
import type { Place } from './reach.ts'
import { SIDE } from './walk.ts'

export type LoomSearch = { readonly [name in 'at' | 'task' | 'columns']?: string | undefined }

/** A cell by the name of its task: the column is known only when a page that has it was loaded. */
export type Aim = Place | { readonly number: number; readonly task: string }

/** The revision that the address names. */
export const numberIn = (at: string | undefined): number | undefined => {
  const number = Number(/^r?(\d{1,15})$/.exec(at ?? '')?.[1] ?? Number.NaN)
  return Number.isNaN(number) ? undefined : number
}

export function aimOf({ at, task }: LoomSearch): Aim | undefined {
  const number = numberIn(at)
  return number === undefined || task === undefined ? undefined : { number, task }
}

/** The column of an aim as far as is known now: the revision itself until a page shows the task. */
export const columnOf = (cloth: Cloth, aim: Aim): number =>
  'column' in aim ? aim.column : (cloth.find(aim.task) ?? SIDE)

/** What a cell is called in the address. */
export function namedIn(cloth: Cloth, cell: Place | undefined): LoomSearch {
  if (cell === undefined) return {}
  const task = cloth.columns[cell.column]?.name
  return { at: `r${cell.number}`, ...(task === undefined ? {} : { task }) }
}

const textOf = ({ at, task }: LoomSearch) => `${at ?? ''} ${task ?? ''}`

/** Tells the addresses that the loom wrote from those of others: the palette, the way back, a link. */
export class OwnAddresses {
  #seen: string
  /** Written and not seen yet; the browser may leave out all but the last. */
  #written: string[] = []

  constructor(first: LoomSearch) {
    this.#seen = textOf(first)
  }

  write(search: LoomSearch): void {
    const text = textOf(search)
    if (text !== (this.#written.at(-1) ?? this.#seen)) this.#written.push(text)
  }

  /** Whether the address that is seen now is a new one, of somebody else. */
  see(search: LoomSearch): boolean {
    const text = textOf(search)
    if (text === this.#seen) return false
    this.#seen = text
    const at = this.#written.indexOf(text)
    this.#written = at < 0 ? [] : this.#written.slice(at + 1)
    return at < 0
  }
}
