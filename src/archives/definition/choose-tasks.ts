import { type ConditionFacts, holds } from './condition.ts'
import { InvalidInput, UnknownTask, UnknownWorkflow } from './errors.ts'
import type { Revision } from './key.ts'
import { coverPath, matchPath, matchText } from './match-glob.ts'
import type { CommitFilter, Dependency, TaskDefinition, Workflow } from './workflow.ts'

/** What starts a run. `run` tells runs of one revision apart; `inputs` are those that were given. */
export type RunTrigger =
  | { readonly type: 'commit' }
  | { readonly type: 'schedule'; readonly run: string; readonly workflow: string }
  | ({ readonly type: 'manual'; readonly run: string; readonly inputs?: Readonly<Record<string, string>> } & (
      | { readonly workflow: string; readonly task?: never }
      | { readonly task: string; readonly workflow?: never }
    ))

/** What is known of a revision and of what starts the run at it. */
export type RevisionFacts = {
  readonly archive: string
  readonly rev: Revision
  readonly author: string
  readonly message: string
  /** Empty where there are none. */
  readonly branch: string
  /** Without a leading slash; a folder's ends with one. */
  readonly changedPaths: readonly string[]
  readonly trigger: RunTrigger
}

export type AbsentReason =
  | 'skip_marker'
  | 'other_trigger'
  | 'not_chosen'
  | 'paths'
  | 'author'
  | 'condition'
  | 'cannot_fail'
export type Absent = { readonly name: string; readonly workflow: string; readonly reason: AbsentReason }
export type Chosen = { readonly task: TaskDefinition; readonly workflow: Workflow; readonly inputs: Inputs }
type Inputs = Readonly<Record<string, string>>

const SKIP_MARKER = /\[skip millrace\]/i

export type Choice = {
  /** The workflows that take part, with or without tasks. */
  readonly workflows: readonly Workflow[]
  readonly chosen: readonly Chosen[]
  readonly absent: readonly Absent[]
}

/**
 * Which tasks a run has; `isThere` says which ones another run gave the revision already. Throws when what was asked
 * for by hand does not exist or does not fit.
 */
export function chooseTasks(
  workflows: readonly Workflow[],
  facts: RevisionFacts,
  isThere: (name: string) => boolean,
): Choice {
  checkTrigger(workflows, facts.trigger)
  const taking: Workflow[] = []
  const chosen: Chosen[] = []
  const absent: Absent[] = []
  for (const workflow of workflows) {
    const excluded = whyExcluded(workflow, facts)
    if (excluded === undefined) taking.push(workflow)
    const inputs = excluded === undefined ? toInputs(workflow, facts.trigger) : {}
    for (const task of workflow.tasks) {
      const reason = excluded ?? whyAbsent(task, facts, inputs)
      if (reason === undefined) chosen.push({ task, workflow, inputs })
      else absent.push({ name: task.name, workflow: workflow.name, reason })
    }
  }
  const defined = new Map(workflows.flatMap(({ tasks }) => tasks.map((task) => [task.name, task])))
  return { workflows: taking, ...withoutThoseThatCannotFail({ chosen, absent }, defined, isThere) }
}

function checkTrigger(workflows: readonly Workflow[], trigger: RunTrigger): void {
  if (trigger.type === 'commit') return
  const names = workflows.map(({ name }) => name)
  if (trigger.workflow !== undefined && !names.includes(trigger.workflow))
    throw new UnknownWorkflow(trigger.workflow, names)
  const tasks = workflows.flatMap((workflow) => workflow.tasks.map(({ name }) => name))
  if ('task' in trigger && trigger.task !== undefined && !tasks.includes(trigger.task))
    throw new UnknownTask(trigger.task, tasks)
}

function whyExcluded({ name, on, tasks }: Workflow, facts: RevisionFacts): AbsentReason | undefined {
  const { trigger, message } = facts
  if (trigger.type === 'commit') {
    if (on.commit === undefined) return 'other_trigger'
    return SKIP_MARKER.test(message) ? 'skip_marker' : whyFiltered(on.commit, facts)
  }
  if (trigger.workflow !== undefined) return trigger.workflow === name ? undefined : 'not_chosen'
  return tasks.some((task) => task.name === trigger.task) ? undefined : 'not_chosen'
}

function whyFiltered(filter: CommitFilter, { author, changedPaths }: RevisionFacts): AbsentReason | undefined {
  const { paths, pathsIgnore, authors } = filter
  if (authors.length > 0 && !authors.some((glob) => matchText(glob, author))) return 'author'
  // A commit that changes nothing is not one that changes only what is to be ignored.
  if (paths.length === 0 && (pathsIgnore.length === 0 || changedPaths.length === 0)) return undefined
  const counts = changedPaths.some(
    (path) =>
      (paths.length === 0 || paths.some((glob) => matchPath(glob, path))) &&
      !pathsIgnore.some((glob) => coverPath(glob, path)),
  )
  return counts ? undefined : 'paths'
}

function whyAbsent(task: TaskDefinition, facts: RevisionFacts, inputs: Inputs): AbsentReason | undefined {
  const { trigger, author, message, branch, changedPaths } = facts
  if (trigger.type === 'manual' && trigger.task !== undefined && trigger.task !== task.name) return 'not_chosen'
  const asked: ConditionFacts = { trigger: trigger.type, paths: changedPaths, author, message, branch, inputs }
  return holds(task.condition, asked) ? undefined : 'condition'
}

/** What was given by hand, else the defaults. */
function toInputs({ on }: Workflow, trigger: RunTrigger): Inputs {
  const given = trigger.type === 'manual' ? (trigger.inputs ?? {}) : {}
  const names = on.inputs.map(({ name }) => name)
  const unknown = Object.keys(given).find((name) => !names.includes(name))
  if (unknown !== undefined) throw new InvalidInput(`there is no input "${unknown}"`, names)
  const values: Record<string, string> = {}
  for (const { name, default: byDefault, isRequired, options } of on.inputs) {
    const value = Object.hasOwn(given, name) ? given[name] : byDefault
    if (value === undefined && isRequired && trigger.type === 'manual')
      throw new InvalidInput(`the input "${name}" must be given`, names)
    if (value === undefined) continue
    if (options && !options.includes(value))
      throw new InvalidInput(`the input "${name}" is "${value}", and none of ${options.join(', ')}`, names)
    values[name] = value
  }
  return values
}

/**
 * A task that waits for the failure of one that is absent has nothing to wait for: it is absent, too. So is one that
 * needs the success of an absent task which would have waited for that: it belongs to what follows a failure.
 */
function withoutThoseThatCannotFail(
  all: Pick<Choice, 'chosen' | 'absent'>,
  defined: ReadonlyMap<string, TaskDefinition>,
  isThere: (name: string) => boolean,
): Pick<Choice, 'chosen' | 'absent'> {
  let { chosen } = all
  const absent = [...all.absent]
  for (let isStable = false; !isStable; ) {
    const present = new Set(chosen.map(({ task }) => task.name))
    const isImpossible = ({ name, isPrevious, when }: Dependency): boolean => {
      if (isPrevious || when === 'finished' || present.has(name) || isThere(name)) return false
      return when === 'failed' || (defined.get(name)?.depends ?? []).some(isImpossible)
    }
    const doomed = new Set(chosen.filter(({ task }) => task.depends.some(isImpossible)))
    for (const { task, workflow } of doomed)
      absent.push({ name: task.name, workflow: workflow.name, reason: 'cannot_fail' })
    chosen = chosen.filter((one) => !doomed.has(one))
    isStable = doomed.size === 0
  }
  return { chosen, absent }
}
