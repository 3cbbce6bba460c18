// What the loom shows, as it was told page by page: revisions by tasks in small numbers. A column keeps its number for as
// long as the page is open, whatever order the columns are shown in; rows are arrays by that number.
import type { BodyAnswered, routes } from '../../api.ts'

export type Page = BodyAnswered<typeof routes.archives.loom>
export type Gap = Page['gaps'][number]

export const cellStates = [
  'waiting',
  'delayed',
  'ready',
  'running',
  'held',
  'succeeded',
  'failed',
  'canceled',
  'skipped',
  'superseded',
] as const
export type CellState = (typeof cellStates)[number]

/** The number of a state, for the arrays of rows. */
export const codeOf = Object.fromEntries(cellStates.map((state, code) => [state, code])) as Record<CellState, number>

export const edgeKinds = ['succeeded', 'failed', 'finished', 'cancels'] as const
export const CANCELS = 3
export const COMMIT = 0
/** There is no such task at the revision. */
export const ABSENT = 255

export type Row = {
  readonly number: number
  readonly author: string | null
  readonly date: string | null
  readonly message: string
  readonly problemCount: number
  readonly definition: string
  /** The state of each column's task, or `ABSENT`. Columns that came later are absent as well. */
  readonly states: Uint8Array
  /** The ids of the tasks: those of the database are far from the end of what a number holds. */
  readonly tasks: Float64Array
  /** From column, to column, revisions back, kind: four numbers each. Those of COMMIT that all have are not here. */
  readonly edges: Uint16Array
}

export type Column = { readonly name: string; readonly workflow: string | null }

const isOver = (code: number): boolean => code >= codeOf.succeeded

/** Whether a task has ended, of whichever state. */
export const isEnded = (code: number): boolean => code !== ABSENT && isOver(code)
/** Whether it exists and has not ended. */
export const isOpen = (code: number): boolean => code < codeOf.succeeded

export const stateAt = (row: Row | undefined, column: number): number => row?.states[column] ?? ABSENT

/** All that was loaded of an archive's loom. Changed in place; `version` rises with each change. */
export class Cloth {
  /** The last revision that is planned: the top row. */
  planned = 0
  youngest = 0
  gaps: readonly Gap[] = []
  readonly columns: Column[] = []
  /** The numbers of columns, as they are shown. */
  order: readonly number[] = []
  readonly rows = new Map<number, Row>()
  version = 0
  readonly #byName = new Map<string, number>()

  /** Takes in a page. `isNewest`: it is the one that begins with the youngest revision. */
  weave(page: Page, isNewest: boolean): void {
    const columns = page.columns.map((column) => this.columnOf(column))
    this.order = isNewest ? mergeOrders(columns, this.order) : mergeOrders(this.order, columns)
    const states = page.states.map((state) => codeOf[state as CellState] ?? 0)
    for (const row of page.rows) this.rows.set(row.number, this.#toRow(row, columns, states))
    this.planned = Math.max(this.planned, page.planned)
    this.youngest = Math.max(this.youngest, page.youngest)
    if (isNewest) this.gaps = page.gaps
    this.version += 1
  }

  #toRow(given: Page['rows'][number], columns: readonly number[], states: readonly number[]): Row {
    const row: Row = {
      number: given.number,
      author: given.author,
      date: given.date,
      message: given.message,
      problemCount: given.problem_count,
      definition: given.definition,
      states: new Uint8Array(this.columns.length).fill(ABSENT),
      tasks: new Float64Array(this.columns.length),
      edges: Uint16Array.from(given.edges),
    }
    const base = Number(given.base)
    for (let i = 0; i < given.cells.length; i += 3) {
      const column = columns[given.cells[i] ?? 0] ?? 0
      row.states[column] = states[given.cells[i + 1] ?? 0] ?? 0
      row.tasks[column] = base + (given.cells[i + 2] ?? 0)
    }
    for (let i = 0; i < row.edges.length; i += 4) {
      row.edges[i] = columns[row.edges[i] ?? 0] ?? 0
      row.edges[i + 1] = columns[row.edges[i + 1] ?? 0] ?? 0
    }
    return row
  }

  /** The number of a column, a new one for a task that was not seen before. */
  columnOf({ name, workflow }: Column): number {
    const known = this.#byName.get(name)
    if (known !== undefined) return known
    this.columns.push({ name, workflow })
    this.#byName.set(name, this.columns.length - 1)
    return this.columns.length - 1
  }

  /** The number of the column of this name; undefined when none is known. */
  find(name: string): number | undefined {
    return this.#byName.get(name)
  }

  state(number: number, column: number): number {
    return stateAt(this.rows.get(number), column)
  }

  /** The id of a task; undefined where there is none. */
  task(number: number, column: number): string | undefined {
    const row = this.rows.get(number)
    return row === undefined || stateAt(row, column) === ABSENT ? undefined : String(row.tasks[column])
  }

  /** Where a task stands; undefined when it is not among the loaded ones. */
  locate(task: string): { readonly number: number; readonly column: number } | undefined {
    const id = Number(task)
    for (const row of this.rows.values()) {
      const column = row.tasks.indexOf(id)
      if (column >= 0 && row.states[column] !== ABSENT) return { number: row.number, column }
    }
    return undefined
  }

  /** Forgets the rows that are not wanted. */
  keep(isWanted: (number: number) => boolean): void {
    for (const number of this.rows.keys()) if (!isWanted(number)) this.rows.delete(number)
    this.version += 1
  }
}

/** The first order, with what only the second has behind what stands before it there. */
export function mergeOrders(first: readonly number[], second: readonly number[]): number[] {
  const merged = [...first]
  let before = -1
  for (const column of second) {
    const at = merged.indexOf(column)
    if (at >= 0) before = at
    else {
      before += 1
      merged.splice(before, 0, column)
    }
  }
  return merged
}
