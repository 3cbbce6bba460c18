// The picture of an archive: revisions by tasks. It is read in one statement and told in small numbers.
import type { Db } from '../db/index.ts'
import type { Archive } from './archive.ts'
import { type Gap, gaps } from './read-revisions.ts'
import { loomCells, loomEdges, loomRows } from './reading.sql.ts'

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
  const { archive, gaps: open } = await gaps(db, name)
  const page = { archive: archive.id, before: before === undefined ? MOST : String(before), limit: limit + 1 }
  const found = await loomRows(db, page)
  const rows = found.slice(0, limit)
  const [youngest, oldest] = [rows[0]?.number ?? '0', rows.at(-1)?.number ?? '0']
  const columns = await loomCells(db, { archive: archive.id, first: oldest, last: youngest })
  const weave = new Weave(columns)
  weave.addEdges(await loomEdges(db, { of: `{${[...weave.tasks].join(',')}}` }))
  const order = weave.order()
  const place = new Map(order.map((column, at) => [column, at]))
  return {
    archive,
    columns: order.map((column) => ({
      name: columns[column]?.name ?? '',
      workflow: columns[column]?.workflow ?? null,
    })),
    rows: rows.map((row) => ({
      number: Number(row.number),
      id: row.id,
      author: row.author,
      date: row.date?.toISOString() ?? null,
      message: row.message.split('\n', 1)[0]?.slice(0, 200) ?? '',
      problemCount: row.problems,
      definition: row.definition,
      ...weave.row(Number(row.number), place),
    })),
    gaps: before === undefined ? open : [],
    hasMore: found.length > limit,
  }
}

type Column = { readonly name: string; readonly numbers: string; readonly tasks: string; readonly states: string }
type Cell = { readonly column: number; readonly number: number; readonly state: number }
type Edge = { readonly from: Cell; readonly to: Cell; readonly kind: number }

const COMMIT = 'COMMIT'
const WIDEST = 10_000 // more than a window has columns or revisions

/** An array as PostgreSQL writes it: `{1,2,3}`. */
const toNumbers = (text: string | null) => (text === null ? [] : text.slice(1, -1).split(',').map(Number))

/** Cells and edges of a window. Of several runs of a task in one revision the last is shown. */
class Weave {
  readonly #byTask = new Map<number, Cell>()
  readonly #rows = new Map<number, Map<number, number>>()
  readonly #edges = new Map<number, Edge[]>()
  readonly #commit: number
  readonly #count: number

  constructor(columns: readonly Column[]) {
    this.#count = columns.length
    this.#commit = columns.findIndex(({ name }) => name === COMMIT)
    columns.forEach(({ numbers, tasks, states }, column) => {
      const [all, ids, codes] = [toNumbers(numbers), toNumbers(tasks), toNumbers(states)]
      all.forEach((number, i) => this.#addCell(ids[i] ?? 0, { column, number, state: codes[i] ?? 0 }))
    })
  }

  #addCell(task: number, cell: Cell): void {
    const row = this.#rows.get(cell.number) ?? new Map<number, number>()
    this.#rows.set(cell.number, row)
    const shown = row.get(cell.column) ?? 0
    if (shown > task) return
    this.#byTask.delete(shown)
    row.set(cell.column, task)
    this.#byTask.set(task, cell)
  }

  get tasks(): Iterable<number> {
    return this.#byTask.keys()
  }

  addEdges(found: {
    readonly others: string | null
    readonly tasks: string | null
    readonly kinds: string | null
  }): void {
    const [others, tasks, kinds] = [toNumbers(found.others), toNumbers(found.tasks), toNumbers(found.kinds)]
    others.forEach((other, i) => this.#addEdge(other, tasks[i] ?? 0, kinds[i] ?? 0))
  }

  /** Every task waits for the COMMIT of its revision, and that for the one before: nobody needs to be told. */
  #addEdge(other: number, task: number, kind: number): void {
    const [from, to] = [this.#byTask.get(other), this.#byTask.get(task)]
    if (from === undefined || to === undefined) return
    if (from.column === this.#commit && (from.number === to.number || to.column === this.#commit)) return
    const known = this.#edges.get(to.number)
    if (known === undefined) this.#edges.set(to.number, [{ from, to, kind }])
    else known.push({ from, to, kind })
  }

  /** COMMIT first, then by what they wait for within a revision: columns of tasks that others need come before those. */
  order(): number[] {
    const before = Array.from({ length: this.#count }, () => new Set<number>())
    const cancels = loomEdgeKinds.indexOf('cancels')
    for (const { from, to, kind } of [...this.#edges.values()].flat())
      if (from.number === to.number && kind !== cancels) before[to.column]?.add(from.column)
    // The order of the youngest tasks is that of the files.
    const youngest = Array.from({ length: this.#count }, () => 0)
    for (const [task, { column }] of this.#byTask) youngest[column] = Math.max(youngest[column] ?? 0, task)
    const rest = new Set(youngest.map((_, at) => at).sort((a, b) => this.#rank(a, b, youngest)))
    const order: number[] = []
    while (rest.size > 0) {
      const free = [...rest].find((column) => [...(before[column] ?? [])].every((need) => !rest.has(need)))
      // Definitions of different revisions may contradict each other: then the order of their tasks decides.
      const next = free ?? ([...rest][0] as number)
      rest.delete(next)
      order.push(next)
    }
    return order
  }

  #rank(a: number, b: number, youngest: readonly number[]): number {
    if (a === this.#commit || b === this.#commit) return a === this.#commit ? -1 : 1
    return (youngest[a] ?? 0) - (youngest[b] ?? 0)
  }

  row(number: number, place: ReadonlyMap<number, number>): Pick<LoomRow, 'base' | 'cells' | 'edges'> {
    const at = (column: number) => place.get(column) ?? 0
    const row = [...(this.#rows.get(number) ?? [])].sort(([a], [b]) => at(a) - at(b))
    const base = row.reduce((least, [, task]) => Math.min(least, task), Number.MAX_SAFE_INTEGER)
    // Sorted as one number each: to column, kind, from column, revisions back.
    const edges = (this.#edges.get(number) ?? []).map(
      ({ from, to, kind }) => ((at(to.column) * 4 + kind) * WIDEST + at(from.column)) * WIDEST + number - from.number,
    )
    return {
      base: row.length === 0 ? '0' : String(base),
      cells: row.flatMap(([column, task]) => [at(column), this.#byTask.get(task)?.state ?? 0, task - base]),
      edges: edges
        .sort((a, b) => a - b)
        .flatMap((code) => {
          const [back, from] = [code % WIDEST, Math.floor(code / WIDEST) % WIDEST]
          const kind = Math.floor(code / WIDEST / WIDEST)
          return [from, Math.floor(kind / 4), back, kind % 4]
        }),
    }
  }
}
