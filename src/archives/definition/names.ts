export const COMMIT = 'COMMIT'
export const PREV = 'PREV'

export const NAME_PATTERN = '^[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}$'
export const VARIABLE_PATTERN = '^[A-Za-z_][A-Za-z0-9_]{0,99}$'
export const INPUT_PATTERN = '^[A-Za-z_][A-Za-z0-9_-]{0,62}$'
export const REFERENCE_PATTERN = '^(PREV|(PREV:)?[A-Za-z0-9_][A-Za-z0-9_.-]{0,99})$'

const NAME = new RegExp(NAME_PATTERN)
const VARIABLE = new RegExp(VARIABLE_PATTERN)

/** Why the text cannot name a task, a workflow or a queue, or undefined when it can. */
export function findNameProblem(text: string): string | undefined {
  if (NAME.test(text)) return undefined
  if (text === '') return 'a name cannot be empty'
  if (text.length > 100) return 'a name has at most 100 characters'
  return 'a name consists of letters, digits, "_", "-" and ".", and begins with a letter, a digit or "_"'
}

/** What was probably meant by a name with other characters: `build PDF` is `build-PDF`. */
export function suggestName(text: string): string | undefined {
  if (text.length > 100) return undefined
  const name = text
    .trim()
    .replace(/[^A-Za-z0-9_.-]+/g, '-')
    .replace(/^[-.]+|-+$/g, '')

  return NAME.test(name) && name !== PREV ? name : undefined
}

/** Why the text cannot name a variable of a task, or undefined when it can. */
export function findVariableProblem(text: string): string | undefined {
  if (/^MILLRACE_/i.test(text)) return 'names that begin with MILLRACE_ are reserved'
  if (VARIABLE.test(text)) return undefined
  return 'the name of a variable consists of letters, digits and "_", and does not begin with a digit'
}

/** What an entry of `depends` or `cancels` says: which task, of this revision or of the previous one that has it. */
export type Reference = { readonly name: string; readonly isPrevious: boolean }

/** The entry of the task called `own`, for whom `PREV` alone means itself; undefined when it is malformed. */
export function parseReference(text: string, own: string): Reference | undefined {
  if (text === PREV) return { name: own, isPrevious: true }
  const isPrevious = text.startsWith(`${PREV}:`)
  const name = isPrevious ? text.slice(PREV.length + 1) : text
  return NAME.test(name) && name !== PREV ? { name, isPrevious } : undefined
}

/** The variable in which an input reaches the tasks. */
export function inputVariable(name: string): string {
  return `MILLRACE_INPUT_${name.toUpperCase().replaceAll('-', '_')}`
}
