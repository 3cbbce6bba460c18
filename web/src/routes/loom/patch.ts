// What events change in the loom, without asking for it again.
import type { LiveEvent } from '../../live.ts'
import { ABSENT, type CellState, type Cloth, codeOf, stateAt } from './cloth.ts'

export type Patched = {
  /** Revisions whose cells have changed. */
  readonly changed: ReadonlySet<number>
  /** Revisions whose structure has changed: a new run, a task that was not known. They are to be fetched again. */
  readonly stale: ReadonlySet<number>
  /** Revisions were planned above those that are loaded, or gaps have come or gone. */
  readonly isGrown: boolean
  /** The archive itself has changed: held, released. */
  readonly isArchive: boolean
}

const KEY = /^(\d+):([^@:#]+)(#.+)?$/s

/** Applies events in their order. */
export function patch(cloth: Cloth, events: readonly LiveEvent[]): Patched {
  const changed = new Set<number>()
  const stale = new Set<number>()
  let isGrown = false
  let isArchive = false
  for (const event of events) {
    if (event.name.startsWith('revision.')) isGrown = true
    else if (event.name.startsWith('archive.')) isArchive = true
    else {
      const done = patchCell(cloth, event)
      if (done === undefined) continue
      if (done.isStale) stale.add(done.number)
      else changed.add(done.number)
    }
  }
  if (changed.size > 0) cloth.version += 1
  return { changed, stale, isGrown, isArchive }
}

function patchCell(cloth: Cloth, event: LiveEvent): { number: number; isStale: boolean } | undefined {
  const { task, to, culprit, key } = event
  const [, text, name = ''] = KEY.exec(key ?? '') ?? []
  const row = text === undefined ? undefined : cloth.rows.get(Number(text))
  if (row === undefined || task === null || to === null) return undefined
  const { number } = row
  const column = cloth.find(name)
  if (column === undefined || stateAt(row, column) === ABSENT) return { number, isStale: true }
  const shown = row.tasks[column] ?? 0
  // Of several runs of a task the last is shown.
  if (shown !== Number(task)) return Number(task) > shown ? { number, isStale: true } : undefined
  const state: CellState = to === 'canceled' && culprit !== null ? 'superseded' : to
  if (row.states[column] === codeOf[state]) return undefined
  row.states[column] = codeOf[state]
  return { number, isStale: false }
}
