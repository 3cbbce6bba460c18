// How far the tasks of archives have got, for a list of them: the last revisions of each, in one look.
import type { Db } from '../db/index.ts'
import type { Archive } from './archive.ts'
import { COMMIT } from './definition/names.ts'
import { loomStates } from './loom.ts'
import type { RevisionState } from './read-revisions.ts'
import { flawedRevisions, frontierCells } from './reading.sql.ts'

const REVISIONS = 30

type State = (typeof loomStates)[number]

export type Frontier = {
  /** The last thirty, the youngest first. */
  readonly revisions: readonly { readonly number: number; readonly state: RevisionState }[]
  /** COMMIT first, then as they were planned. */
  readonly tasks: readonly {
    readonly name: string
    /** The newest revision at which it succeeded or failed; null: none of the last thirty. */
    readonly rev: number | null
    readonly state: State | null
    /** How many revisions that is behind the newest that has it; null with `rev`. */
    readonly behind: number | null
    /** How many of the last thirty it has not ended at. */
    readonly open: number
  }[]
}

type Cell = { readonly number: number; readonly state: State }
type Column = { readonly name: string; readonly cells: readonly Cell[] }

/** By the id of the archive. */
export async function frontiers(db: Db, archives: readonly Archive[]): Promise<Map<string, Frontier>> {
  const asked = { archives: archives.map(({ id }) => id), revisions: REVISIONS }
  const [cells, flawed] = [await frontierCells(db, asked), await flawedRevisions(db, asked)]
  const columns = new Map<string, Column[]>()
  for (const { archive, name, numbers, states } of cells) {
    const [all, codes] = [toNumbers(numbers), toNumbers(states)]
    const found = all.map((number, i): Cell => ({ number, state: loomStates[codes[i] ?? 0] ?? 'waiting' }))
    found.sort((a, b) => b.number - a.number)
    columns.set(archive, [...(columns.get(archive) ?? []), { name, cells: found }])
  }
  return new Map(
    archives.map(({ id }) => {
      const own = columns.get(id) ?? []
      const flaws = new Set(flawed.filter(({ archive }) => archive === id).map(({ number }) => Number(number)))
      return [id, { revisions: revisionsOf(own, flaws), tasks: own.map(toTask) }]
    }),
  )
}

const toNumbers = (text: string): number[] => JSON.parse(`[${text.slice(1, -1)}]`)

const isOver = (state: State) => !['waiting', 'delayed', 'ready', 'running', 'held'].includes(state)

/** What was superseded, canceled or skipped has got nowhere. */
const hasResult = (state: State) => state === 'succeeded' || state === 'failed'

function toTask({ name, cells }: Column): Frontier['tasks'][number] {
  const newest = cells.find(({ state }) => hasResult(state))
  return {
    name,
    rev: newest?.number ?? null,
    state: newest?.state ?? null,
    behind: newest === undefined ? null : (cells[0]?.number ?? newest.number) - newest.number,
    open: cells.filter(({ state }) => !isOver(state)).length,
  }
}

function revisionsOf(columns: readonly Column[], flaws: ReadonlySet<number>): Frontier['revisions'] {
  const commit = columns.find(({ name }) => name === COMMIT)
  return (commit?.cells ?? []).map(({ number, state }) => {
    const own = columns.flatMap(({ name, cells }) =>
      name === COMMIT ? [] : cells.filter((cell) => cell.number === number).map((cell) => cell.state),
    )
    return { number, state: own.length === 0 && flaws.has(number) ? 'broken' : stateOf(own, state) }
  })
}

/** As `RevisionState` says, of the tasks of a revision and its COMMIT. */
function stateOf(own: readonly State[], commit: State): RevisionState {
  const has = (...wanted: State[]) => own.some((state) => wanted.includes(state))
  if (!isOver(commit) || own.some((state) => !isOver(state))) {
    return has('running', 'delayed', 'succeeded', 'failed') ? 'running' : 'planned'
  }
  if (has('failed')) return 'failed'
  return has('canceled', 'superseded') ? 'canceled' : 'succeeded'
}
