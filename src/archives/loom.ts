// The picture of an archive: revisions by tasks. It is read in one statement and told in small numbers.
import type { Db } from '../db/index.ts'
import type { Archive } from './archive.ts'
import { type Gap, gaps } from './read-revisions.ts'
import { readLoom } from './reading.sql.ts'

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
export const loomEdges = ['succeeded', 'failed', 'finished', 'cancels'] as const

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

type Columns = readonly (readonly [name: string, workflow: string | null])[]
type Row = readonly [
  number: number,
  id: string,
  author: string | null,
  date: string | null,
  message: string,
  problems: number,
  definition: string,
  base: string | null,
  cells: string | null,
  threads: string | null,
  slashes: string | null,
]

const MOST = '9223372036854775807'

/** A window of revisions below a number, the youngest first. */
export async function loom(
  db: Db,
  name: string,
  { before, limit }: { readonly before?: number | undefined; readonly limit: number },
): Promise<Loom> {
  const { archive, gaps: open } = await gaps(db, name)
  const page = {
    archive: archive.id,
    before: before === undefined ? MOST : String(before),
    from: '0',
    limit: limit + 1,
  }
  const found = await readLoom(db, page)
  const names = found.columns as Columns
  const raw = found.rows as readonly Row[]
  const edges = raw.map(([, , , , , , , , , threads, slashes]) => [...numbers(threads), ...numbers(slashes)])
  const order = sortColumns(names.length, edges)
  const place = new Map(order.map((column, at) => [column, at]))
  const commit = names.findIndex(([column]) => column === 'COMMIT')
  return {
    archive,
    columns: order.map((column) => ({ name: names[column]?.[0] ?? '', workflow: names[column]?.[1] ?? null })),
    rows: raw.slice(0, limit).map((row, i) => toRow(row, withoutImplicit(edges[i] ?? [], commit), place)),
    gaps: before === undefined ? open : [],
    hasMore: raw.length > limit,
  }
}

function toRow(row: Row, edges: readonly number[], place: ReadonlyMap<number, number>): LoomRow {
  const [number, id, author, date, message, problemCount, definition, base, cells] = row
  const at = (column: number) => place.get(column) ?? 0
  return {
    number,
    id,
    author,
    date: date === null ? null : new Date(date).toISOString(),
    message: message.split('\n', 1)[0]?.slice(0, 200) ?? '',
    problemCount,
    definition,
    base: base ?? '0',
    cells: numbers(cells).map((value, i) => (i % 3 === 0 ? at(value) : value)),
    edges: edges.map((value, i) => (i % 4 < 2 ? at(value) : value)),
  }
}

const numbers = (text: string | null) => (text === null ? [] : text.split(',').map(Number))

/** Every task waits for the COMMIT of its revision, and that for the one before: nobody needs to be told. */
function withoutImplicit(edges: readonly number[], commit: number): number[] {
  const kept: number[] = []
  for (let i = 0; i < edges.length; i += 4) {
    const [from = 0, to = 0, back = 0, kind = 0] = edges.slice(i, i + 4)
    const isImplicit = from === commit && (back === 0 || to === commit)
    if (!isImplicit) kept.push(from, to, back, kind)
  }
  return kept
}

/** COMMIT first, then by what they wait for within a revision: columns of tasks that others need come before those. */
function sortColumns(count: number, rows: readonly (readonly number[])[]): number[] {
  const before = Array.from({ length: count }, () => new Set<number>())
  for (const edges of rows)
    for (let i = 0; i < edges.length; i += 4)
      if (edges[i + 2] === 0 && edges[i + 3] !== 3) before[edges[i + 1] ?? 0]?.add(edges[i] ?? 0)
  const placed = new Set<number>()
  const order: number[] = []
  while (order.length < count) {
    const free = before.findIndex((needs, at) => !placed.has(at) && [...needs].every((need) => placed.has(need)))
    // Definitions of different revisions may contradict each other: then the order of their tasks decides.
    const next = free >= 0 ? free : before.findIndex((_, at) => !placed.has(at))
    placed.add(next)
    order.push(next)
  }
  return order
}
