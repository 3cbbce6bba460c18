import type { Finding } from './finding.ts'
import { lint } from './lint.ts'
import type { FileBytes } from './source.ts'
import { toWorkflow } from './to-workflow.ts'
import type { Workflow } from './workflow.ts'

/** What the workflow files of one revision say. */
export type Definition = {
  /** By the name of their file; none when `problems` holds an error, for then nobody knows what was meant. */
  readonly workflows: readonly Workflow[]
  /** Errors and warnings, by file and place. */
  readonly problems: readonly Finding[]
}

const WORKFLOW_FILE = /^_workflows\/[^/]+\.(ya?ml|json)$/

/** Whether a path of an archive, without a leading slash, is that of a workflow file. */
export function isWorkflowPath(path: string): boolean {
  return WORKFLOW_FILE.test(path)
}

/** Reads the workflow files of a revision. It never throws: whatever is wrong with them is among the problems. */
export function readDefinition(files: readonly FileBytes[]): Definition {
  const { findings, trees } = lint(files)
  const workflows = hasErrors(findings) ? [] : trees.map(toWorkflow)
  return { workflows, problems: findings }
}

export function hasErrors(problems: readonly Finding[]): boolean {
  return problems.some(({ severity }) => severity === 'error')
}
