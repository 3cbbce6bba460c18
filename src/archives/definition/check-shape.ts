import type { z } from 'zod'
import type { TextProblem } from './checked-text.ts'
import { type Finding, finding } from './finding.ts'
import { isMapping } from './is-mapping.ts'
import { nearest } from './nearest.ts'
import { isDefaults } from './outline.ts'
import { mapping, taskList } from './schema.ts'
import { suggestPlace } from './suggest-place.ts'
import { isPreviousTask, suggestType } from './suggest-type.ts'
import type { Path, Tree } from './tree.ts'

type Issue = z.core.$ZodIssue

/** Everything in which the values of a file depart from the schema. */
export function checkShape(tree: Tree): Finding[] {
  const { value } = tree
  if (Array.isArray(value)) return findIssues(taskList, tree, value)
  if (!isMapping(value)) {
    const message = `expected a list of tasks, or a mapping with tasks, not ${describe(value)}`
    return [finding('wrong-type', tree.placeOf([]), message)]
  }
  const alone = findTaskAlone(tree, value)
  return alone ? [alone] : findIssues(mapping, tree, withoutExtensions(value))
}

/** Keys that begin with `x-` are their author's: a place for anchors, and for other programs. */
export function withoutExtensions(value: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(value).filter(([key]) => !key.startsWith('x-')))
}

/** A task that is not in a list is one mistake, and not one for each of its keys. */
function findTaskAlone(tree: Tree, value: Readonly<Record<string, unknown>>): Finding | undefined {
  const isTask = 'name' in value && ['command', 'script', 'uses', 'depends'].some((key) => key in value)
  if (!isTask || 'tasks' in value) return undefined
  const suggestion = 'put "- " before its first line and two spaces before each other'
  return finding('wrong-type', tree.placeOfLack([]), 'expected a list of tasks, not a task alone', { suggestion })
}

function findIssues(schema: z.ZodType, tree: Tree, value: unknown): Finding[] {
  const { error } = schema.safeParse(value)
  const issues = (error?.issues ?? []).flatMap((issue) => settle(issue, tree))
  const mistyped = new Set(issues.flatMap((issue) => keysMeant(issue, schema)))
  const misplaced = [...findDefaults(tree, [], value), ...findDefaults(tree, ['tasks'], valueAt(tree, ['tasks']))]
  const isInside = (path: readonly PropertyKey[]) =>
    misplaced.some(({ at }) => joined(path.slice(0, at.length)) === joined(at))
  const others = issues
    .filter(({ path }) => !isInside(path))
    .filter(({ path }) => !(isMissing(tree, path as Path) && mistyped.has(joined(path))))
    .flatMap((issue) => toFindings(issue, { schema, tree }))
  return [...misplaced.map((one) => one.finding), ...others]
}

/** Defaults in a list of tasks: one mistake, and not a task without a name that has an unknown key. */
function findDefaults(tree: Tree, path: Path, list: unknown): { readonly at: Path; readonly finding: Finding }[] {
  if (!Array.isArray(list)) return []
  const suggestion =
    path.length === 0
      ? 'make the file a mapping: write defaults: and tasks: at its top, and put the list below tasks:'
      : 'write defaults: at the top of the file, beside tasks:'
  return list.flatMap((item, i) => {
    const at = [...path, i]
    const message = 'defaults cannot stand in a list of tasks'
    return isDefaults(item)
      ? [{ at, finding: finding('wrong-type', tree.placeOfKey([...at, 'defaults']), message, { suggestion }) }]
      : []
  })
}

/** The places of the keys that were probably meant by unknown ones: that they are missing is not a second mistake. */
function keysMeant(issue: Issue, schema: z.ZodType): string[] {
  if (issue.code !== 'unrecognized_keys') return []
  const known = keysAt(schema, issue.path as Path)
  return issue.keys.flatMap((key) => {
    const meant = nearest(key, known)
    return meant === undefined ? [] : [joined([...issue.path, meant])]
  })
}

const joined = (path: readonly PropertyKey[]) => path.map(String).join('/')

/**
 * An issue of a union becomes the issues of the one alternative whose type fits: whoever wrote a mapping gets to read
 * what is wrong with the mapping. Where none fits, the union's own issue says what was expected.
 */
function settle(issue: Issue, tree: Tree, prefix: readonly PropertyKey[] = []): Issue[] {
  const path = [...prefix, ...issue.path]
  // `PREV: b` was meant as text: what such a mapping lacks is not the mistake.
  if (issue.code !== 'invalid_union' || isPreviousTask(valueAt(tree, path as Path))) return [{ ...issue, path }]
  const alternatives = issue.errors.map((errors) => errors.flatMap((error) => settle(error, tree, path)))
  const isMismatch = (one: Issue) =>
    one.path.length === path.length && (one.code === 'invalid_type' || one.code === 'invalid_union')
  return alternatives.find((errors) => !errors.some(isMismatch)) ?? [{ ...issue, path }]
}

type Context = { readonly schema: z.ZodType; readonly tree: Tree }

function toFindings(issue: Issue, context: Context): Finding[] {
  const { tree } = context
  const path = issue.path as Path
  switch (issue.code) {
    case 'unrecognized_keys':
      return issue.keys.map((key) => toUnknownKey(key, path, context))
    case 'custom':
      return [toTextFinding(issue.params?.['problem'] as TextProblem, path, tree)]
    case 'invalid_key':
      return issue.issues.flatMap((inner) => {
        const { params } = inner as z.core.$ZodIssueCustom
        const problem = params?.['problem'] as TextProblem | undefined
        return problem ? [finding(problem.code, tree.placeOfKey(path), problem.message)] : []
      })
    case 'invalid_value':
      return [toWrongValue(issue.values, path, tree)]
    case 'too_small':
    case 'too_big':
      return [toOutOfRange(issue, path, tree)]
    case 'invalid_type':
    case 'invalid_union':
    case 'invalid_element':
    case 'invalid_format':
    case 'not_multiple_of':
      return [toWrongType(issue.message, path, tree)]
    default:
      return issue satisfies never
  }
}

function toUnknownKey(key: string, path: Path, { schema, tree }: Context): Finding {
  const known = keysAt(schema, path)
  const meant = nearest(key, known)
  const elsewhere = meant === key ? undefined : suggestPlace(key, path, valueAt(tree, [...path, key]))
  const suggestion = elsewhere ?? (meant ? `did you mean ${meant}?` : `the keys here are ${known.join(', ')}`)
  return finding('unknown-key', tree.placeOfKey([...path, key]), `there is no key "${key}" here`, { suggestion })
}

function toTextFinding(problem: TextProblem, path: Path, tree: Tree): Finding {
  const { code, message, suggestion, at, length } = problem
  const place = at === undefined ? tree.placeOf(path) : tree.placeInside(path, at, length ?? 1)
  return finding(code, place, message, { suggestion })
}

function toWrongValue(values: readonly unknown[], path: Path, tree: Tree): Finding {
  const value = valueAt(tree, path)
  const message = `expected ${values.length > 1 ? 'one of ' : ''}${values.join(', ')}, not ${describe(value)}`
  const meant = typeof value === 'string' ? nearest(value, values.map(String)) : undefined
  return finding('wrong-value', tree.placeOf(path), message, { suggestion: meant && `write ${meant}` })
}

function toOutOfRange(issue: z.core.$ZodIssueTooSmall | z.core.$ZodIssueTooBig, path: Path, tree: Tree): Finding {
  const value = valueAt(tree, path)
  if (!Array.isArray(value) || issue.code !== 'too_big')
    return finding('out-of-range', tree.placeOf(path), `${issue.message}, not ${describe(value)}`)
  const firstTooMany = tree.placeOf([...path, Number(issue.maximum)])
  return finding('out-of-range', firstTooMany, `${issue.message}, not ${value.length}`)
}

function toWrongType(expected: string, path: Path, tree: Tree): Finding {
  if (isMissing(tree, path)) {
    const key = path.at(-1)
    const isName = key === 'name'
    const message = isName ? 'the task has no name' : `the key "${key}" is missing`
    return finding(isName ? 'missing-name' : 'missing-key', tree.placeOfLack(path.slice(0, -1)), message)
  }
  const value = valueAt(tree, path)
  const suggestion = suggestType(expected, value)
  // Nothing stands where an empty value would, so that the key is what can be pointed at.
  const place = value === null ? tree.placeOfKey(path) : tree.placeOf(path)
  const found = value === null || value === undefined ? 'and there is nothing' : `not ${describe(value)}`
  return finding('wrong-type', place, `expected ${expected}, ${found}`, { suggestion })
}

/** Whether the path ends with a key that is not there. */
function isMissing(tree: Tree, path: Path): boolean {
  const around = valueAt(tree, path.slice(0, -1))
  const key = path.at(-1)
  return typeof key === 'string' && isMapping(around) && !(key in around)
}

function valueAt(tree: Tree, path: Path): unknown {
  let value = tree.value
  for (const step of path) value = (value as Readonly<Record<string | number, unknown>> | null)?.[step]
  return value
}

function describe(value: unknown): string {
  if (value === null || value === undefined) return 'nothing'
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'object') return 'a mapping'
  if (typeof value === 'string') return `the text "${value.length > 40 ? `${value.slice(0, 40)}…` : value}"`
  return typeof value === 'number' ? `the number ${value}` : JSON.stringify(value)
}

/** The keys that the schema knows for the mapping at this path. */
function keysAt(schema: z.ZodType, path: Path): string[] {
  const [step, ...rest] = path
  const { def } = schema as unknown as { def: Definition }
  switch (def.type) {
    case 'optional':
    case 'nullable':
      return keysAt(def.innerType, path)
    case 'union':
      return def.options.flatMap((option) => keysAt(option, path))
    case 'array':
      return step === undefined ? [] : keysAt(def.element, typeof step === 'number' ? rest : path)
    case 'record':
      return step === undefined ? [] : keysAt(def.valueType, rest)
    case 'object': {
      if (step === undefined) return Object.keys(def.shape)
      const inner = def.shape[step]
      return inner ? keysAt(inner, rest) : []
    }
    default:
      // Whatever else there is has no keys.
      def satisfies never
      return []
  }
}

type Definition =
  | { type: 'optional' | 'nullable'; innerType: z.ZodType }
  | { type: 'union'; options: z.ZodType[] }
  | { type: 'array'; element: z.ZodType }
  | { type: 'record'; valueType: z.ZodType }
  | { type: 'object'; shape: Record<string, z.ZodType> }
