// Revisions as the contract writes them.
import type { RevisionDetail, RevisionSummary } from '../archives/index.ts'

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
  edges: revision.edges.map(({ from, to, kind }) => ({ from, to, kind: kind as EdgeKind })),
})

type EdgeKind = 'succeeded' | 'failed' | 'finished' | 'cancels'
