import { inputsOf, mayHold, type Trigger } from './condition.ts'
import { findCronProblem, isTimezone, timezones } from './cron.ts'
import { type Finding, finding } from './finding.ts'
import { isMapping } from './is-mapping.ts'
import { inputVariable } from './names.ts'
import { nearest } from './nearest.ts'
import type { OutlineFile, OutlineTask } from './outline.ts'
import { isConditionProblem, parseCondition } from './parse-condition.ts'
import { MOST_SCHEDULES } from './schema.ts'
import type { Path, Tree } from './tree.ts'

/** What starts the workflow, what can be given to it, and what its tasks ask about that. */
export function lintTriggers(file: OutlineFile): Finding[] {
  return [...lintOn(file), ...lintSchedules(file), ...lintInputs(file), ...file.tasks.flatMap(lintAskedInputs)]
}

function lintOn({ value, tree }: OutlineFile): Finding[] {
  const on = value['on']
  if (!isMapping(on)) return []
  const isScheduled = 'schedule' in on && !(Array.isArray(on['schedule']) && on['schedule'].length === 0)
  if ('commit' in on || 'manual' in on || isScheduled) return []
  const suggestion = 'leave "on" out to run after every commit, or write "manual:" below it'
  return [finding('no-trigger', tree.placeOfKey(['on']), 'nothing starts this workflow', { suggestion })]
}

/** Dates are looked for in the calendar, which takes a while: only as many as the schema allows. */
function lintSchedules({ value, tree }: OutlineFile): Finding[] {
  const schedule = isMapping(value['on']) ? value['on']['schedule'] : undefined
  const path: Path = ['on', 'schedule']
  const items = Array.isArray(schedule)
    ? schedule.slice(0, MOST_SCHEDULES).map((item, i) => ({ item, at: [...path, i] }))
    : [{ item: schedule, at: path }]
  return items.flatMap(({ item, at }) => (isMapping(item) ? lintSchedule(item, at, tree) : []))
}

function lintSchedule(schedule: Readonly<Record<string, unknown>>, path: Path, tree: Tree): Finding[] {
  const { cron, timezone } = schedule
  const findings: Finding[] = []
  const problem = typeof cron === 'string' ? findCronProblem(cron) : undefined
  if (problem) findings.push(finding(problem.code, tree.placeOf([...path, 'cron']), problem.message))
  if (typeof timezone === 'string' && !isTimezone(timezone)) {
    const meant = nearest(timezone, timezones())
    const message = `there is no time zone "${timezone}"`
    const suggestion = meant && `write ${meant}`
    findings.push(finding('bad-timezone', tree.placeOf([...path, 'timezone']), message, { suggestion }))
  }
  return findings
}

function declaredInputs({ value }: OutlineFile): Readonly<Record<string, unknown>> {
  const manual = isMapping(value['on']) ? value['on']['manual'] : undefined
  const inputs = isMapping(manual) ? manual['inputs'] : undefined
  return isMapping(inputs) ? inputs : {}
}

function lintInputs(file: OutlineFile): Finding[] {
  const { tree } = file
  const path: Path = ['on', 'manual', 'inputs']
  const byVariable = new Map<string, string>()
  return Object.entries(declaredInputs(file)).flatMap(([name, input]) => {
    const findings: Finding[] = []
    const first = byVariable.get(inputVariable(name))
    byVariable.set(inputVariable(name), first ?? name)
    if (first !== undefined) {
      const related = [{ ...tree.placeOfKey([...path, first]), message: 'the first one' }]
      const message = `"${name}" and "${first}" would both reach the tasks as ${inputVariable(name)}`
      findings.push(finding('duplicate-input', tree.placeOfKey([...path, name]), message, { related }))
    }
    const problem = isMapping(input) ? findDefaultProblem(input) : undefined
    if (problem) findings.push(finding('bad-default', tree.placeOf([...path, name, 'default']), problem))
    return findings
  })
}

function findDefaultProblem(input: Readonly<Record<string, unknown>>): string | undefined {
  if (!('default' in input)) return undefined
  const { default: value, options, required } = input
  if (required === true) return 'an input that must be given needs no default'
  if (!Array.isArray(options) || options.some((option) => String(option) === String(value))) return undefined
  return `the default is none of the options: ${options.join(', ')}`
}

function lintAskedInputs({ file, path, value }: OutlineTask): Finding[] {
  const condition = toCondition(value)
  if (condition === undefined) return []
  const declared = Object.keys(declaredInputs(file))
  return inputsOf(condition)
    .filter(({ name }) => !declared.includes(name))
    .map(({ name, at }) => {
      const meant = nearest(name, declared)
      const place = file.tree.placeInside([...path, 'if'], at, `inputs.${name}`.length)
      const suggestion = meant ? `did you mean inputs.${meant}?` : 'declare it under on: manual: inputs'
      return finding('unknown-input', place, `the workflow declares no input "${name}"`, { suggestion })
    })
}

function toCondition(task: Readonly<Record<string, unknown>>) {
  const written = task['if']
  if (typeof written === 'boolean') return { kind: 'always', holds: written } as const
  if (typeof written !== 'string') return undefined
  const condition = parseCondition(written)
  return isConditionProblem(condition) ? undefined : condition
}

/** Whether the condition of the task holds for none of the triggers of its workflow. A person may start every one. */
export function holdsNever({ file, value }: OutlineTask): boolean {
  const condition = toCondition(value)
  if (condition === undefined) return false
  const { on } = file.value
  const triggers: Trigger[] = ['manual']
  if (!isMapping(on) || 'commit' in on) triggers.push('commit')
  if (isMapping(on) && 'schedule' in on) triggers.push('schedule')
  return !triggers.some((trigger) => mayHold(condition, trigger))
}
