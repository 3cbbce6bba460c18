export type { Absent, AbsentReason, RevisionFacts, RunTrigger } from './definition/choose-tasks.ts'
export { nextRuns } from './definition/cron.ts'
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
