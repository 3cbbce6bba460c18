import type { LiveEvent } from '../../live.ts'
import type { Revision, RevisionTask } from './graph-of-revision.ts'

const over = new Set(['succeeded', 'failed', 'canceled', 'skipped'])

export type Patched = {
  readonly revision: Revision
  /** The events do not say everything: a task came, was superseded, or the last one ended. */
  readonly isOutdated: boolean
}

/** A revision as it is after these events; undefined when none of them is about it. */
export function patchRevision(revision: Revision, events: readonly LiveEvent[]): Patched | undefined {
  const known = new Map(revision.tasks.map((task) => [task.id, task]))
  let isOutdated = false
  let isTouched = false
  for (const event of events) {
    const { task, key, to } = event as { task?: string | null; key?: string | null; to?: string | null }
    if (task === undefined || task === null) continue
    const found = known.get(task)
    if (found === undefined) {
      // A run by hand or by schedule adds tasks to a revision that was planned long ago.
      if (key?.startsWith(`${revision.number}:`)) isOutdated = true
      continue
    }
    isTouched = true
    if (to === undefined || to === null || to === found.state) continue
    known.set(task, move(found, to, event.at))
    if (to === 'canceled') isOutdated = true
  }
  if (!isTouched && !isOutdated) return undefined
  const tasks = revision.tasks.map((task) => known.get(task.id) ?? task)
  const isOpen = tasks.some(({ state }) => !over.has(state))
  const state =
    isOpen && tasks.some((task) => task.workflow !== null && task.started_at !== null) ? 'running' : revision.state
  return { revision: { ...revision, tasks, state }, isOutdated: isOutdated || !isOpen }
}

function move(task: RevisionTask, state: string, at: string): RevisionTask {
  if (over.has(state)) return { ...task, state, finished_at: at }
  const isAgain = over.has(task.state)
  const started = state === 'running' ? at : isAgain ? null : task.started_at
  return { ...task, state, started_at: started, finished_at: null, superseded_by: isAgain ? null : task.superseded_by }
}
