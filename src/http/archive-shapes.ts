// Revisions as the contract writes them.
import type { Archive, Frontier, RevisionDetail, RevisionSummary } from '../archives/index.ts'

export const iso = (at: Date | null) => at?.toISOString() ?? null

export const toSummary = (revision: RevisionSummary) => ({
  number: revision.number,
  id: revision.id,
  state: revision.state,
  author: revision.author,
  date: iso(revision.date),
  message: revision.message,
  planned_at: revision.plannedAt.toISOString(),
  depth: revision.depth,
  cause: revision.cause?.marker ?? null,
  problems: [...revision.problems],
  task_count: revision.taskCount,
})

export const toRevision = (revision: RevisionDetail) => ({
  ...toSummary(revision),
  previous: revision.previous,
  txn: revision.txn,
  announced_at: iso(revision.announcedAt),
  changes: revision.changes.map(([action, path]) => [action, path] as [string, string]),
  changes_cut: revision.changesCut,
  files: [...revision.files],
  previous_files: revision.previousFiles === null ? null : [...revision.previousFiles],
  tasks: revision.tasks.map((task) => ({
    id: task.id,
    key: task.key,
    name: task.name,
    run: task.run,
    workflow: task.workflow,
    exclusive: task.isExclusive,
    state: task.state,
    started_at: iso(task.startedAt),
    finished_at: iso(task.finishedAt),
    superseded_by: task.supersededBy,
  })),
  tasks_cut: revision.tasksCut,
  edges: revision.edges.map(({ from, to, kind }) => ({ from, to, kind: kind as EdgeKind })),
})

type EdgeKind = 'succeeded' | 'failed' | 'finished' | 'cancels'

/** Nothing when it was not asked for. */
export function toFrontier(archive: Archive, frontier: Frontier | undefined) {
  if (frontier === undefined) return {}
  const [first, last] = [archive.planned.number + 1, archive.youngest.number]
  const reason = archive.source.type === 'push' ? ('not_announced' as const) : ('not_planned' as const)
  return {
    frontier: {
      revisions: frontier.revisions.map((one) => ({ ...one })),
      tasks: frontier.tasks.map((one) => ({ ...one })),
      gap: last >= first ? { first, last, reason } : null,
    },
  }
}
