// What happened to the tasks of a list since they were fetched: new states of rows that are shown, and tasks that the list
// would show if it were fetched now. Without React, so that a test can be the stream.
import type { BodyAnswered, routes } from '../../api.ts'
import { mayConcern, type Term } from '../../filter.ts'
import type { LiveEvent } from '../../live.ts'

export type TaskRow = BodyAnswered<typeof routes.tasks.list>['items'][number]

type Patch = Partial<Pick<TaskRow, 'state' | 'started_at' | 'finished_at'>>

type Told = {
  readonly patches: ReadonlyMap<string, Patch>
  /** Tasks that are not shown and may belong here. */
  readonly fresh: ReadonlySet<string>
}

type TaskChanges = Told & {
  /** What was told before the rows were last asked for again. */
  readonly before?: Told
}

export const unchanged: TaskChanges = { patches: new Map(), fresh: new Set() }

/** So many new tasks are counted: nobody needs to know how many more there are. */
export const MOST_FRESH = 1_000

/** What a list has, as far as it matters to what happens. */
type Listed = {
  readonly ids: ReadonlySet<string>
  /** Without a filter only what is above it is new to the list: whatever else is not there is further down. */
  readonly newest: number
  readonly terms: readonly Term[]
}

export function listedOf(rows: readonly TaskRow[], terms: readonly Term[]): Listed {
  const newest = terms.length > 0 ? 0 : rows.reduce((most, { id }) => Math.max(most, Number(id)), 0)
  return { ids: new Set(rows.map(({ id }) => id)), newest, terms }
}

const isNewTo = ({ ids, newest }: Listed, task: string): boolean => Number(task) > newest && !ids.has(task)

const ends: readonly (string | null)[] = ['succeeded', 'failed', 'canceled', 'skipped']

/** The changes with these events in them. What is told of a task before its row has come holds for the row as well. */
export function withEvents(changes: TaskChanges, events: readonly LiveEvent[], listed: Listed): TaskChanges {
  const told = new Map<string, Patch>()
  const added = new Set<string>()
  for (const event of events) {
    const { task, to } = event
    if (task === null || to === null) continue
    told.set(task, { ...told.get(task), ...patchOf(to, event.at) })
    if (isNewTo(listed, task) && !changes.fresh.has(task) && mayConcern(listed.terms, event)) added.add(task)
  }
  const fresh = added.size === 0 ? changes.fresh : withMore(changes.fresh, added, listed)
  const patches = [...told].filter(([task]) => listed.ids.has(task) || fresh.has(task))
  if (patches.length === 0) return changes
  return { ...changes, fresh, patches: merged(changes.patches, patches) }
}

function merged(before: ReadonlyMap<string, Patch>, more: readonly [string, Patch][]): ReadonlyMap<string, Patch> {
  const all = new Map(before)
  for (const [task, patch] of more) all.set(task, { ...before.get(task), ...patch })
  return all
}

/** Those that have arrived make room; beyond the most that is counted the set stays the same. */
function withMore(fresh: ReadonlySet<string>, added: ReadonlySet<string>, listed: Listed): ReadonlySet<string> {
  const waiting = [...fresh].filter((task) => isNewTo(listed, task))
  return waiting.length >= MOST_FRESH ? fresh : new Set([...waiting, ...added].slice(0, MOST_FRESH))
}

function patchOf(to: TaskRow['state'], at: string): Patch {
  return {
    state: to,
    ...(to === 'running' ? { started_at: at, finished_at: null } : {}),
    ...(ends.includes(to) ? { finished_at: at } : { finished_at: null }),
  }
}

/** The rows are asked for again: what is known until now may be without what nobody told. */
export const whenAsked = ({ patches, fresh }: TaskChanges): TaskChanges => {
  const told = { patches, fresh }
  return { ...told, before: told }
}

/** The rows are there again, with all that was told before they were asked for. */
export function whenAnswered({ patches, fresh, before }: TaskChanges): TaskChanges {
  return {
    patches: new Map([...patches].filter(([task, patch]) => before?.patches.get(task) !== patch)),
    fresh: new Set([...fresh].filter((task) => before?.fresh.has(task) !== true)),
  }
}

/** The rows as they are by now. */
export function patched(rows: readonly TaskRow[], { patches }: TaskChanges): readonly TaskRow[] {
  return rows.map((row) => (patches.has(row.id) ? { ...row, ...patches.get(row.id) } : row))
}

/** How many tasks wait to be shown: those that have arrived meanwhile do not. */
export const countFresh = ({ fresh }: TaskChanges, listed: Listed): number =>
  [...fresh].filter((task) => isNewTo(listed, task)).length
