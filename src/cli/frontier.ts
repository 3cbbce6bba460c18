// How far each task has got, by the same rule as the dashboard's `web/src/routes/loom/frontier.ts`, which may load nothing
// of the program but its client: the tests of both have the same cases.
import type { BodyAnswered, routes } from '../api/index.ts'
import { clean } from './render/text.ts'

export type Picture = BodyAnswered<typeof routes.archives.loom>

type Reached = {
  readonly name: string
  /** How many revisions its newest result is behind the newest revision that has the task. 0: it lacks nothing. */
  readonly behind: number
  /** There may be one further down. */
  readonly isAtLeast: boolean
}

const hasResult = (state: string) => state === 'succeeded' || state === 'failed'

/** From the youngest revision down. What was superseded has got nowhere, and a revision without the task does not count. */
export function frontier({ columns, rows, states }: Picture): readonly Reached[] {
  const bottom = rows.at(-1)?.number ?? 0
  const cells = rows.map(({ number, cells: flat }) => {
    const byColumn = new Map<number, string>()
    for (let i = 0; i < flat.length; i += 3) byColumn.set(flat[i] ?? 0, states[flat[i + 1] ?? 0] ?? '')
    return { number, byColumn }
  })
  return columns.map(({ name }, column) => {
    const own = cells.filter(({ byColumn }) => byColumn.has(column))
    const newest = own[0]?.number
    if (newest === undefined) return { name, behind: 0, isAtLeast: false }
    const result = own.find(({ byColumn }) => hasResult(byColumn.get(column) ?? ''))
    if (result === undefined) return { name, behind: newest - bottom + 1, isAtLeast: true }
    return { name, behind: newest - result.number, isAtLeast: false }
  })
}

/** `indexing -1, build-PDF -4`. */
export function tellFrontier(reached: readonly Reached[]): string {
  const lagging = reached.filter(({ behind }) => behind > 0)
  if (lagging.length === 0) return 'nothing lags'
  return lagging
    .map(({ name, behind, isAtLeast }) => `${clean(name)} -${behind}${isAtLeast ? ' or more' : ''}`)
    .join(', ')
}
