// The picture of an archive: revisions by tasks. It is read in a few statements and told in small numbers.
import type { Db } from '../db/index.ts'
import type { Archive } from './archive.ts'
import { find } from './find.ts'
import { type Gap, gaps } from './read-revisions.ts'
import { loomCells, loomEdges, loomRows, loomStates as readStates } from './reading.sql.ts'

/** What a cell's number stands for. `superseded` is canceled by a later one of its kind. */
export const loomStates = [
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
/** What an edge's number stands for. */
export const loomEdgeKinds = ['succeeded', 'failed', 'finished', 'cancels'] as const

export type LoomRow = {
  readonly number: number
  readonly id: string
  readonly author: string | null
  readonly date: string | null
  /** The first line. */
  readonly message: string
  readonly problemCount: number
  /** Differs from that of the row below where the workflow files changed. */
  readonly definition: string
  /** The id of its first task, from which the others are counted. */
  readonly base: string
  /** Column, state, task: three numbers for each cell. */
  readonly cells: readonly number[]
  /** From column, to column, rows back, kind: four numbers for each edge, without those of COMMIT that all have. */
  readonly edges: readonly number[]
}

export type Loom = {
  readonly archive: Archive
  readonly columns: readonly { readonly name: string; readonly workflow: string | null }[]
  readonly rows: readonly LoomRow[]
  readonly gaps: readonly Gap[]
  readonly hasMore: boolean
}

const MOST = '9223372036854775807'

/** A window of revisions below a number, the youngest first. */
export async function loom(
  db: Db,
  name: string,
  { before, limit }: { readonly before?: number | undefined; readonly limit: number },
): Promise<Loom> {
  const archive = await find(db, name)
  const page = { archive: archive.id, before: before === undefined ? MOST : String(before), limit: limit + 1 }
  const found = await loomRows(db, page)
  const rows = found.slice(0, limit)
  const window = { archive: archive.id, first: rows.at(-1)?.number ?? '0', last: rows[0]?.number ?? '0' }
  // At once, on connections of their own: the server has more than one core for them.
  const [edges, columns, states, { gaps: open }] = await Promise.all([
    loomEdges(db, window),
    loomCells(db, window),
    readStates(db, window),
    gaps(db, name),
  ])
  const weave = new Weave(
    columns,
    rows.map(({ number }) => Number(number)),
  )
  weave.addStates(states)
  weave.addEdges(edges)
  const order = weave.order()
  const place: number[] = []
  for (const [at, column] of order.entries()) place[column] = at
  return {
    archive,
    columns: order.map((column) => ({
      name: columns[column]?.name ?? '',
      workflow: columns[column]?.workflow ?? null,
    })),
    rows: rows.map((row, at) => ({
      number: Number(row.number),
      id: row.id,
      author: row.author,
      date: row.date?.toISOString() ?? null,
      message: row.message.split('\n', 1)[0]?.slice(0, 200) ?? '',
      problemCount: row.problems,
      definition: row.definition,
      ...weave.row(at, order, place),
    })),
    gaps: before === undefined ? open : [],
    hasMore: found.length > limit,
  }
}

type Column = { readonly name: string; readonly numbers: string; readonly tasks: string }
type States = { readonly tasks: string | null; readonly states: string | null }
type Edges = { readonly tasks: string | null; readonly backs: string | null }

const COMMIT = 'COMMIT'
const CANCELS = loomEdgeKinds.indexOf('cancels')
const WIDEST = 10_000 // more than a window has columns or revisions

/** An array of numbers as PostgreSQL writes it: `{1,2,3}`. */
const toNumbers = (text: string | null): number[] => (text === null ? [] : JSON.parse(`[${text.slice(1, -1)}]`))

/**
 * Cells and edges of a window. Of several runs of a task in one revision the last is shown. There may be tens of thousands
 * of both: a cell is a place in arrays, row by row, and an edge is one number, from which to column, kind, from column and
 * rows back are taken apart again. Rows, since numbers may have gaps of any size between them.
 */
class Weave {
  readonly #width: number
  readonly #numbers: readonly number[]
  /** Of each cell; 0: there is none. */
  readonly #tasks: Float64Array
  readonly #states: Uint8Array
  readonly #cellOf = new Map<number, number>()
  readonly #edges: number[][]
  /** For each column those that its tasks wait for within a revision. */
  readonly #needs: Set<number>[]
  readonly #commit: number

  constructor(columns: readonly Column[], numbers: readonly number[]) {
    this.#width = columns.length
    this.#numbers = numbers
    this.#tasks = new Float64Array(columns.length * numbers.length)
    this.#states = new Uint8Array(this.#tasks.length)
    this.#edges = numbers.map(() => [])
    this.#needs = columns.map(() => new Set())
    this.#commit = columns.findIndex(({ name }) => name === COMMIT)
    const rowOf = new Map(numbers.map((number, row) => [number, row]))
    for (const [column, { numbers: all, tasks }] of columns.entries()) {
      const [of, ids] = [toNumbers(all), toNumbers(tasks)]
      for (let i = 0; i < of.length; i += 1) {
        const row = rowOf.get(of[i] ?? 0)
        if (row !== undefined) this.#addCell(row * this.#width + column, ids[i] ?? 0)
      }
    }
  }

  #addCell(cell: number, task: number): void {
    const shown = this.#tasks[cell] ?? 0
    if (shown > task) return
    this.#cellOf.delete(shown)
    this.#tasks[cell] = task
    this.#cellOf.set(task, cell)
  }

  addStates(found: States): void {
    const [tasks, states] = [toNumbers(found.tasks), toNumbers(found.states)]
    for (let i = 0; i < tasks.length; i += 1) {
      const cell = this.#cellOf.get(tasks[i] ?? 0)
      if (cell !== undefined) this.#states[cell] = states[i] ?? 0
    }
  }

  /** Every task waits for the COMMIT of its revision, and that for the one before: nobody needs to be told. */
  addEdges(found: Edges): void {
    const [tasks, backs] = [toNumbers(found.tasks), toNumbers(found.backs)]
    for (let i = 0; i < tasks.length; i += 1) {
      const kind = (tasks[i] ?? 0) % 4
      const task = ((tasks[i] ?? 0) - kind) / 4
      const [from, to] = [this.#cellOf.get(task - (backs[i] ?? 0)), this.#cellOf.get(task)]
      if (from === undefined || to === undefined) continue
      const [fromColumn, toColumn] = [from % this.#width, to % this.#width]
      const [fromRow, toRow] = [(from - fromColumn) / this.#width, (to - toColumn) / this.#width]
      const back = fromRow - toRow
      if (fromColumn === this.#commit && (back === 0 || toColumn === this.#commit)) continue
      if (back === 0 && kind !== CANCELS) this.#needs[toColumn]?.add(fromColumn)
      this.#edges[toRow]?.push(((toColumn * 4 + kind) * WIDEST + fromColumn) * WIDEST + back)
    }
  }

  /** COMMIT first, then by what they wait for within a revision: columns of tasks that others need come before those. */
  order(): number[] {
    // The order of the youngest tasks is that of the files.
    const youngest = this.#needs.map(() => 0)
    for (const [cell, task] of this.#tasks.entries()) {
      const column = cell % this.#width
      youngest[column] = Math.max(youngest[column] ?? 0, task)
    }
    const rank = (column: number) => (column === this.#commit ? 0 : (youngest[column] ?? 0))
    const rest = new Set([...youngest.keys()].sort((a, b) => rank(a) - rank(b)))
    const order: number[] = []
    while (rest.size > 0) {
      const free = [...rest].find((column) => [...(this.#needs[column] ?? [])].every((need) => !rest.has(need)))
      // Definitions of different revisions may contradict each other: then the order of their tasks decides.
      const next = free ?? ([...rest][0] as number)
      rest.delete(next)
      order.push(next)
    }
    return order
  }

  /** `place` says where each column stands in `order`. */
  row(row: number, order: readonly number[], place: readonly number[]): Pick<LoomRow, 'base' | 'cells' | 'edges'> {
    const first = row * this.#width
    let base = Number.MAX_SAFE_INTEGER
    for (let cell = first; cell < first + this.#width; cell += 1) {
      const task = this.#tasks[cell] ?? 0
      if (task > 0 && task < base) base = task
    }
    const cells: number[] = []
    for (const [at, column] of order.entries()) {
      const task = this.#tasks[first + column] ?? 0
      if (task > 0) cells.push(at, this.#states[first + column] ?? 0, task - base)
    }
    return { base: cells.length === 0 ? '0' : String(base), cells, edges: this.#edgesOf(row, place) }
  }

  #edgesOf(row: number, place: readonly number[]): number[] {
    const at = (column: number) => place[column] ?? 0
    const codes = (this.#edges[row] ?? []).map((code) => {
      const [rest, back] = [Math.floor(code / WIDEST), code % WIDEST]
      const ends = Math.floor(rest / WIDEST)
      return ((at(Math.floor(ends / 4)) * 4 + (ends % 4)) * WIDEST + at(rest % WIDEST)) * WIDEST + back
    })
    const edges: number[] = []
    for (const code of codes.sort((a, b) => a - b)) {
      const rest = Math.floor(code / WIDEST)
      const ends = Math.floor(rest / WIDEST)
      const back = (this.#numbers[row] ?? 0) - (this.#numbers[row + (code % WIDEST)] ?? 0)
      edges.push(rest % WIDEST, Math.floor(ends / 4), back, ends % 4)
    }
    return edges
  }
}
