import { parseKey } from './key.ts'
import type { Plan, PlannedTask, Requirement } from './plan.ts'

const LEGEND = '// <-- means "depends/waits for"\n// <!= means "cancels/supersedes"\n\n'

type Line = { readonly left: string; readonly arrow: '<--' | '<!='; readonly right: string; readonly comment: string }

/**
 * The plans in the notation of the design: `rev-2:indexing <-- rev-3:indexing` for what waits, `<!=` for what cancels.
 * That a task waits for the COMMIT of its revision is left out where another task of the revision stands between.
 */
export function toNotation(plans: readonly Plan[], options: { readonly legend?: boolean } = {}): string {
  const lines = plans.flatMap(toLines)
  const width = (of: (line: Line) => string) => Math.max(0, ...lines.map((line) => of(line).length))
  const [left, right] = [width((line) => line.left), width((line) => line.right)]
  const text = lines
    .map((line) => `${line.left.padEnd(left)} ${line.arrow} ${line.right.padEnd(right)}  ${line.comment}`.trimEnd())
    .map((line) => `${line}\n`)
    .join('')
  return options.legend ? LEGEND + text : text
}

/** `rev-2:indexing`, as the tasks of one archive are called in its notation. */
export function toLabel(key: string): string {
  const parts = parseKey(key)
  return parts ? `rev-${parts.rev}:${parts.name}${parts.run === undefined ? '' : `#${parts.run}`}` : key
}

function toLines(plan: Plan): Line[] {
  const { commit } = plan
  const ofCommit = commit?.requires.map((one) => toLine(one, commit.key, plan)) ?? []
  return [...ofCommit, ...plan.tasks.flatMap((task) => toTaskLines(task, plan))]
}

function toTaskLines(task: PlannedTask, plan: Plan): Line[] {
  const siblings = new Set(plan.tasks.map(({ key }) => key))
  const isBehindAnother = task.requires.some(({ key }) => siblings.has(key))
  const requires = task.requires.filter(({ because }) => because !== 'implicit' || !isBehindAnother)
  const [implicit, others] = [
    requires.filter(({ because }) => because === 'implicit'),
    requires.filter(({ because }) => because !== 'implicit'),
  ]
  return [
    ...implicit.map((one) => toLine(one, task.key, plan)),
    ...task.cancels.map((key): Line => ({ left: toLabel(key), arrow: '<!=', right: toLabel(task.key), comment: '' })),
    ...others.map((one) => toLine(one, task.key, plan)),
  ]
}

function toLine(requirement: Requirement, key: string, plan: Plan): Line {
  const comments = [whyThere(requirement, plan), whatFor(requirement, plan)].filter((text) => text !== '')
  return {
    left: toLabel(requirement.key),
    arrow: '<--',
    right: toLabel(key),
    comment: comments.length > 0 ? `// ${comments.join(', ')}` : '',
  }
}

function whyThere({ because, insteadOf }: Requirement, { rev }: Plan): string {
  switch (because) {
    case 'implicit':
      return `added implicitly with rev-${rev}`
    case 'absent':
      return `instead of ${insteadOf}, absent at rev-${rev}`
    case 'exclusive':
      return 'both are exclusive'
    case 'written':
      return ''
    default:
      return because satisfies never
  }
}

/** Said only where it is not what a reader expects: success within a revision, the end across revisions. */
function whatFor({ key, when }: Requirement, { rev }: Plan): string {
  const isHere = String(parseKey(key)?.rev) === String(rev)
  return when === (isHere ? 'succeeded' : 'finished') ? '' : `when ${when}`
}
