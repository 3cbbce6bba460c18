// Pages and events of a loom, for tests: written in names, told in numbers as the server does.
import type { LiveEvent } from '../../live.ts'
import { type CellState, Cloth, cellStates, edgeKinds, type Page } from './cloth.ts'

export type WovenRow = {
  readonly cells: Readonly<Record<string, CellState>>
  /** From, to, revisions back, and how. */
  readonly edges?: readonly (readonly [string, string, number, (typeof edgeKinds)[number]])[]
  readonly definition?: string
}

/** The id of a task: that of its revision and its column in the page. */
export const taskOf = (number: number, column: number): number => number * 1000 + column

export function aPage(
  columns: readonly string[],
  rows: Readonly<Record<number, WovenRow>>,
  more: Partial<Page> = {},
): Page {
  const numbers = Object.keys(rows)
    .map(Number)
    .sort((a, b) => b - a)
  const top = numbers[0] ?? 0
  return {
    archive: 'A',
    planned: top,
    youngest: top,
    columns: columns.map((name) => ({ name, workflow: null })),
    states: [...cellStates],
    edges: [...edgeKinds],
    rows: numbers.map((number) => toRow(columns, number, rows[number] ?? { cells: {} })),
    gaps: [],
    next_before: null,
    ...more,
  }
}

function toRow(
  columns: readonly string[],
  number: number,
  { cells, edges = [], definition = 'd' }: WovenRow,
): Page['rows'][number] {
  const at = (name: string) => columns.indexOf(name)
  return {
    number,
    id: String(number),
    author: 'ada',
    date: null,
    message: `change ${number}`,
    problem_count: 0,
    definition,
    base: String(taskOf(number, 0)),
    cells: Object.entries(cells).flatMap(([name, state]) => [at(name), cellStates.indexOf(state), at(name)]),
    edges: edges.flatMap(([from, to, back, kind]) => [at(from), at(to), back, edgeKinds.indexOf(kind)]),
  }
}

export function aCloth(...given: Parameters<typeof aPage>): Cloth {
  const cloth = new Cloth()
  cloth.weave(aPage(...given), true)
  return cloth
}

const prev = ['indexing', 'indexing', 1, 'finished'] as const
const inner = ['indexing', 'build-PDF', 0, 'succeeded'] as const
const cancels = ['build-PDF', 'build-PDF', 1, 'cancels'] as const
const whole = { edges: [prev, inner, cancels] }

/** The example of the document: r4 has begun, r3 supersedes r2, r1 is done. */
export const document = (): Cloth =>
  aCloth(['COMMIT', 'indexing', 'build-PDF'], {
    4: { cells: { COMMIT: 'succeeded', indexing: 'running', 'build-PDF': 'waiting' }, ...whole },
    3: { cells: { COMMIT: 'succeeded', indexing: 'succeeded', 'build-PDF': 'running' }, ...whole },
    2: { cells: { COMMIT: 'succeeded', indexing: 'succeeded', 'build-PDF': 'superseded' }, ...whole },
    1: { cells: { COMMIT: 'succeeded', indexing: 'failed', 'build-PDF': 'succeeded' }, edges: [inner] },
  })

export const anEvent = (event: Partial<LiveEvent>): LiveEvent => ({
  id: '1',
  at: '2026-01-01T00:00:00Z',
  name: 'changed',
  task: null,
  scope: 'archive:A',
  key: null,
  kind: 'archive.task',
  queue: 'default',
  from: null,
  to: null,
  cause: null,
  culprit: null,
  actor: null,
  dispatcher: null,
  detail: null,
  ...event,
})
