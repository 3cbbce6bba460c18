export type { Absent, AbsentReason, RevisionFacts, RunTrigger } from './definition/choose-tasks.ts'
export { nextRuns } from './definition/cron.ts'
export { DefinitionBroken, InvalidInput, UnknownTask, UnknownWorkflow } from './definition/errors.ts'
export type { Finding, FindingCode, Severity } from './definition/finding.ts'
export { type Graph, graphOfDefinition, graphOfPlans } from './definition/graph.ts'
export { workflowJsonSchema } from './definition/json-schema.ts'
export { formatKey, parseKey, type Revision, type TaskKey } from './definition/key.ts'
export { toNotation } from './definition/notation.ts'
export { type History, namesToLookUp, type Plan, type PlannedTask, plan, type Requirement } from './definition/plan.ts'
export { FINDING_FORMATS, type FindingFormat, printFindings } from './definition/print-findings.ts'
export { GRAPH_FORMATS, type GraphFormat, printGraph } from './definition/print-graph.ts'
export { type Definition, hasErrors, isWorkflowFile, readDefinition } from './definition/read-definition.ts'
export { RememberedHistory } from './definition/remembered-history.ts'
export type { FileBytes } from './definition/source.ts'
export { starterWorkflow } from './definition/starter.ts'
export type {
  CommitFilter,
  Dependency,
  Input,
  Run,
  TaskDefinition,
  Workflow,
  WorkflowSchedule,
} from './definition/workflow.ts'
