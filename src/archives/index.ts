export type { Archive, ArchiveProblem, ArchiveState, RepositorySource, Source } from './archive.ts'
export { type Archives, type ArchivesOptions, createArchives } from './archives.ts'
export type { Notice } from './arrive.ts'
export { workflowJsonSchema } from './definition/json-schema.ts'
export { type Loom, loomEdges, loomStates } from './loom.ts'
export {
  type ArchiveIndex,
  type ArchiveTask,
  archiveIndexKind,
  archiveIndexSchema,
  archiveTaskKind,
  archiveTaskSchema,
  type RevisionRef,
  type Trigger,
} from './payload.ts'
export { type ChosenTasks, MOST_DEPTH, type PlannedRun } from './plan-revision.ts'
export type { Problem } from './problem.ts'
export type {
  Gap,
  RevisionDetail,
  RevisionEdge,
  RevisionState,
  RevisionSummary,
  RevisionTask,
} from './read-revisions.ts'
export type { Registration } from './register.ts'
export type { ReadSecrets, Repositories } from './repositories.ts'
