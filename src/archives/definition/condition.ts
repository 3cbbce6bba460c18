import type { Glob } from './glob.ts'
import { matchPath, matchText } from './match-glob.ts'

export const TRIGGERS = ['commit', 'schedule', 'manual'] as const
export type Trigger = (typeof TRIGGERS)[number]

/** What a condition can ask about. */
export const FIELDS = ['trigger', 'paths', 'author', 'message', 'branch'] as const
export type Field = (typeof FIELDS)[number]

export type Operand =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'list'; readonly items: readonly string[] }
  | { readonly kind: 'field'; readonly field: Field }
  | { readonly kind: 'input'; readonly name: string; readonly at: number }

/** The condition of `if`, read. */
export type Condition =
  | { readonly kind: 'always'; readonly holds: boolean }
  | { readonly kind: 'not'; readonly of: Condition }
  | { readonly kind: 'and' | 'or'; readonly left: Condition; readonly right: Condition }
  | { readonly kind: 'equal' | 'in' | 'contains'; readonly left: Operand; readonly right: Operand }
  | { readonly kind: 'matches'; readonly left: Operand; readonly glob: Glob }

/** What is known of the revision and of what started the run. */
export type ConditionFacts = {
  readonly trigger: Trigger
  readonly paths: readonly string[]
  readonly author: string
  readonly message: string
  readonly branch: string
  readonly inputs: Readonly<Record<string, string>>
}

/** Whether the condition holds. */
export function holds(condition: Condition, facts: ConditionFacts): boolean {
  return judge(condition, facts) === true
}

/** Whether there can be a revision at which the condition holds for this trigger. */
export function mayHold(condition: Condition, trigger: Trigger): boolean {
  return judge(condition, { trigger }) !== false
}

/** With some facts unknown the answer may be unknown, too: undefined. */
function judge(condition: Condition, facts: Partial<ConditionFacts>): boolean | undefined {
  switch (condition.kind) {
    case 'always':
      return condition.holds
    case 'not': {
      const answer = judge(condition.of, facts)
      return answer === undefined ? undefined : !answer
    }
    case 'and':
    case 'or': {
      const decisive = condition.kind === 'or'
      const [left, right] = [judge(condition.left, facts), judge(condition.right, facts)]
      if (left === decisive || right === decisive) return decisive
      return left === undefined || right === undefined ? undefined : !decisive
    }
    case 'matches': {
      const left = read(condition.left, facts)
      return left === undefined ? undefined : matches(condition.glob, left, condition.left)
    }
    case 'equal':
    case 'in':
    case 'contains': {
      const [left, right] = [read(condition.left, facts), read(condition.right, facts)]
      return left === undefined || right === undefined ? undefined : compare(condition.kind, left, right)
    }
    default:
      return condition satisfies never
  }
}

type Value = string | readonly string[]

function compare(kind: 'equal' | 'in' | 'contains', left: Value, right: Value): boolean {
  if (kind === 'equal') return left === right
  const [whole, part] = kind === 'in' ? [right, left] : [left, right]
  return typeof part === 'string' && whole.includes(part)
}

function matches(glob: Glob, value: Value, of: Operand): boolean {
  if (typeof value !== 'string') return value.some((path) => matchPath(glob, path))
  const isPath = of.kind === 'field' && of.field === 'branch'
  return isPath ? matchPath(glob, value) : matchText(glob, value)
}

function read(operand: Operand, facts: Partial<ConditionFacts>): Value | undefined {
  switch (operand.kind) {
    case 'text':
      return operand.text
    case 'list':
      return operand.items
    case 'field':
      return facts[operand.field]
    case 'input':
      return facts.inputs === undefined ? undefined : (facts.inputs[operand.name] ?? '')
    default:
      return operand satisfies never
  }
}

/** Every input that the condition asks for, with its place in the text. */
export function inputsOf(condition: Condition): { name: string; at: number }[] {
  switch (condition.kind) {
    case 'always':
      return []
    case 'not':
      return inputsOf(condition.of)
    case 'and':
    case 'or':
      return [...inputsOf(condition.left), ...inputsOf(condition.right)]
    case 'matches':
      return [condition.left].filter((operand) => operand.kind === 'input')
    case 'equal':
    case 'in':
    case 'contains':
      return [condition.left, condition.right].filter((operand) => operand.kind === 'input')
    default:
      return condition satisfies never
  }
}
