// What can be done with workflow files without a server and a database: the command line loads this and nothing else of
// the archives.
import type { Absent, AbsentReason, RevisionFacts, RunTrigger } from './definition/choose-tasks.ts'
import { nextRuns } from './definition/cron.ts'
import { DefinitionBroken } from './definition/errors.ts'
import type { Finding } from './definition/finding.ts'
import { graphOfDefinition } from './definition/graph.ts'
import { toNotation } from './definition/notation.ts'
import { type Plan, type PlannedTask, plan as planRevision, type Requirement } from './definition/plan.ts'
import { type FindingFormat, printFindings } from './definition/print-findings.ts'
import { type GraphFormat, printGraph } from './definition/print-graph.ts'
import { type Definition, isWorkflowPath, readDefinition } from './definition/read-definition.ts'
import { RememberedHistory } from './definition/remembered-history.ts'
import type { FileBytes } from './definition/source.ts'
import type { AskedRun, RanTask } from './run-workflow.ts'

export { workflowJsonSchema as schema } from './definition/json-schema.ts'
export { starterWorkflow as starter } from './definition/starter.ts'

/** Whether a file of the folder of workflows is one, by its name. */
export function isWorkflowFile(name: string): boolean {
  return isWorkflowPath(`_workflows/${name}`)
}

/** Everything that is wrong with files of one revision that has those beside them, too, and how it is shown. */
export function lint(
  files: readonly FileBytes[],
  beside: readonly FileBytes[],
): {
  readonly findings: readonly Finding[]
  readonly print: (format: FindingFormat) => string
} {
  const asked = new Set(files.map(({ path }) => path))
  const { problems } = readDefinition([...files, ...beside])
  const findings = problems.filter(({ file, related }) => [{ file }, ...related].some((place) => asked.has(place.file)))
  return { findings, print: (format) => printFindings(findings, files, format) }
}

/** The tasks of the files, drawn. Throws `DefinitionBroken` when they have errors. */
export function graph(files: readonly FileBytes[], format: GraphFormat): string {
  return printGraph(graphOfDefinition(readSound(files)), format)
}

/** Runs tasks here, one after another. Throws `DefinitionBroken` and `UnknownTask`. */
export async function run(files: readonly FileBytes[], asked: AskedRun): Promise<RanTask[]> {
  const definition = readSound(files)
  // Most of what is done with workflow files runs nothing.
  const { runWorkflow } = await import('./run-workflow.ts')
  return runWorkflow(definition, asked)
}

export type AskedPlan = Omit<RevisionFacts, 'trigger'> & {
  readonly trigger: RunTrigger
  /** How far the revision before it is, which has the same files: a first revision has none. */
  readonly previous: 'running' | 'over' | 'none'
  readonly now: Date
}

const NEXT_RUNS = 5

/** What a run at a revision would add, as text and as JSON. Throws `DefinitionBroken` when the files have errors. */
export function plan(files: readonly FileBytes[], asked: AskedPlan): { readonly text: string; readonly json: object } {
  const definition = readSound(files)
  const { previous, now, ...facts } = asked
  const planned = planAfter(definition, facts, previous)
  const schedules = definition.workflows.flatMap(({ name, on }) =>
    on.schedule.map(({ cron, timezone }) => {
      const at = nextRuns({ cron, timezone }, now, NEXT_RUNS).map(toText)
      return { workflow: name, cron, timezone, at }
    }),
  )
  const absent = planned.absent.map(({ name, reason }) => `  ${name}: ${REASONS[reason]}\n`)
  const times = schedules.map(
    ({ workflow, cron, timezone, at }) => `  ${workflow}, ${cron} in ${timezone}: ${at.join(', ')}\n`,
  )
  const text = [
    toNotation([planned], { legend: true }),
    ...(absent.length > 0 ? [`\nnot at rev-${planned.rev}:\n`, ...absent] : []),
    ...(times.length > 0 ? ['\nnext by schedule:\n', ...times] : []),
  ]
  return { text: text.join(''), json: { ...toJson(planned), next_runs: schedules } }
}

// Cron expressions know no seconds.
const toText = (date: Date) => date.toISOString().replace(/:\d\d\.\d+Z$/, ':00Z')

function readSound(files: readonly FileBytes[]): Definition {
  const definition = readDefinition(files)
  const errors = definition.problems.filter(({ severity }) => severity === 'error').length
  if (errors > 0) throw new DefinitionBroken(errors)
  return definition
}

/** The plan of a run, after the one of the revision before and, unless a commit starts it, that of its own commit. */
function planAfter(definition: Definition, facts: RevisionFacts, previous: AskedPlan['previous']): Plan {
  const history = new RememberedHistory()
  const byCommit = { ...facts, trigger: { type: 'commit' } } as const
  const rev = before(facts.rev)
  const earlier: RevisionFacts[] = previous === 'none' || rev === undefined ? [] : [{ ...byCommit, rev }]
  if (facts.trigger.type !== 'commit') earlier.push(byCommit)
  for (const one of earlier) {
    const planned = planRevision(definition, one, history.before(one))
    history.remember(planned)
    if (previous === 'over') for (const { key } of planned.tasks) history.end(key)
  }
  return planRevision(definition, facts, history.before(facts))
}

/** How the revision before that one is called; undefined for the first. */
function before(rev: RevisionFacts['rev']): RevisionFacts['rev'] | undefined {
  if (!/^\d{1,15}$/.test(String(rev))) return `${rev}~1`
  return Number(rev) > 1 ? Number(rev) - 1 : undefined
}

const REASONS: Readonly<Record<AbsentReason, string>> = {
  skip_marker: 'the message says [skip millrace]',
  other_trigger: 'its workflow is not started by commits',
  not_chosen: 'it was not asked for',
  paths: 'no path that changed fits its filter',
  author: 'the author does not fit its filter',
  condition: 'its condition does not hold',
  cannot_fail: 'it waits for a failure that cannot come',
}

function toJson({ archive, rev, commit, tasks, absent }: Plan): {
  archive: string
  rev: Plan['rev']
  tasks: object[]
  absent: readonly Absent[]
} {
  const ofCommit = commit
    ? [{ name: commit.name, key: commit.key, requires: commit.requires.map(toRequirementJson), cancels: [] }]
    : []
  return { archive, rev, tasks: [...ofCommit, ...tasks.map(toTaskJson)], absent }
}

function toTaskJson({ name, key, workflow, requires, cancels, timeoutSeconds, ...task }: PlannedTask): object {
  const named = { name, key, workflow, requires: requires.map(toRequirementJson), cancels }
  return { ...named, ...task, timeout_seconds: timeoutSeconds }
}

function toRequirementJson({ insteadOf, ...rest }: Requirement): object {
  return insteadOf === undefined ? rest : { ...rest, instead_of: insteadOf }
}
