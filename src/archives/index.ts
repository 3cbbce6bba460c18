export {
  type Archive,
  type ArchiveProblem,
  type ArchiveState,
  limitOf,
  type RepositorySource,
  type Source,
} from './archive.ts'
export { ArchiveRuns } from './archive-runs.ts'
export { type Archives, type ArchivesOptions, createArchives } from './archives.ts'
export type { Notice } from './arrive.ts'
export type { Absent, AbsentReason, RevisionFacts, RunTrigger } from './definition/choose-tasks.ts'
export { nextRuns } from './definition/cron.ts'
export { cronInWords } from './definition/cron-words.ts'
export { DefinitionBroken, InvalidInput, UnknownTask, UnknownWorkflow } from './definition/errors.ts'
export type { Finding, FindingCode, Severity } from './definition/finding.ts'
export { workflowJsonSchema } from './definition/json-schema.ts'
export { formatKey, parseKey, type Revision, type TaskKey, toEngineKey } from './definition/key.ts'
export { type History, namesToLookUp, type Plan, type PlannedTask, plan, type Requirement } from './definition/plan.ts'
export { type Definition, hasErrors, isWorkflowPath, readDefinition } from './definition/read-definition.ts'
export type { FileBytes } from './definition/source.ts'
export type {
  CommitFilter,
  Dependency,
  Input,
  Run,
  TaskDefinition,
  Workflow,
  WorkflowSchedule,
} from './definition/workflow.ts'
export type { Frontier } from './frontier.ts'
export type { IndexedItem, IndexPage, IndexQuery } from './index-read.ts'
export { createArchiveIndexWorker } from './index-worker.ts'
export { type Loom, loomEdgeKinds, loomStates } from './loom.ts'
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
export { type ArchiveTaskWorker, createArchiveTaskWorker } from './perform-task.ts'
export { MOST_DEPTH } from './plan-revision.ts'
export type { ChosenTasks, PlannedRun } from './plan-run.ts'
export type { Problem } from './problem.ts'
export type { DefinitionAt, NextPlan, PlannedSchedule } from './read-definition-at.ts'
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
export type { Schedule } from './schedule.ts'
export { sweepRooms } from './sweep-rooms.ts'
export type { TaskResult, TaskWorkshop } from './task-workshop.ts'
