import { isMapping } from './is-mapping.ts'

/** What to write in place of a value of the wrong kind, where that can be said. `expected` is the schema's word for it. */
export function suggestType(expected: string, value: unknown): string | undefined {
  if (value === null || value === undefined) return suggestForNothing(expected)
  if (typeof value === 'string') return suggestForText(expected, value)
  if (value === true && expected.endsWith('or nothing')) return 'leave the value out: the key alone says it'
  if (Array.isArray(value)) return suggestForList(expected, value)
  if (isMapping(value)) return expected === 'a list of tasks' ? suggestList(value) : suggestForMapping(expected, value)
  if (typeof value === 'number' && expected.startsWith('a duration')) return `write ${value}s or ${value}m`
  const isScalar = typeof value === 'number' || typeof value === 'boolean'
  return isScalar && !/mapping|list|number|nothing/.test(expected) ? `put it in quotes: "${value}"` : undefined
}

/** Whether it is what YAML makes of `PREV: name`: a mapping. */
export const isPreviousTask = (value: unknown): boolean => isMapping(value) && 'PREV' in value

type Mapping = Readonly<Record<string, unknown>>

/** A colon and a space, or one at the end of a line, make a mapping of what was meant as text. */
function suggestForMapping(expected: string, value: Mapping): string | undefined {
  if (isPreviousTask(value)) {
    const { PREV: name, when } = value
    if (typeof name === 'object' && name !== null) return 'write "PREV:NAME", without a space after the colon'
    const reference = name === null ? 'PREV' : `"PREV:${name as string}"`
    return `write ${typeof when === 'string' ? `{ task: ${reference}, when: ${when} }` : reference}`
  }
  const [[key, text] = [], ...others] = Object.entries(value)
  const isText = /^(a (task|pattern|name|command|duration|condition|list$)|an |text)/.test(expected)
  if (key === undefined || others.length > 0 || !isText || typeof text === 'object') return undefined
  return `put it in quotes: ${quoted(`${key}: ${text as string}`)}`
}

/** As YAML takes it for text. */
export function quoted(text: string): string {
  return /["\\]/.test(text) ? `'${text.replaceAll("'", "''")}'` : `"${text}"`
}

function suggestForList(expected: string, value: readonly unknown[]): string | undefined {
  if (expected.startsWith('a mapping of names')) return 'write NAME: value, one a line'
  const isOfMappings = value.length > 0 && value.every(isMapping)
  return expected.startsWith('a mapping') && isOfMappings ? 'write the keys without dashes' : undefined
}

function suggestForNothing(expected: string): string | undefined {
  if (expected === 'text') return 'write "" for an empty text'
  return /list of/.test(expected) ? 'leave the key out, or write [] for an empty list' : undefined
}

function suggestForText(expected: string, value: string): string | undefined {
  if (expected === 'true or false') {
    if (/^(yes|on|y)$/i.test(value)) return 'write true'
    return /^(no|off|n)$/i.test(value) ? 'write false' : undefined
  }
  if (expected === 'a whole number') return /^\d{1,9}$/.test(value) ? `write ${value} without quotes` : undefined
  if (expected.startsWith('a schedule')) return `write [{ cron: "${value}" }]`
  if (expected.startsWith('a mapping of commit')) {
    return /^(commit|manual)$/.test(value) ? `write { ${value}: }` : undefined
  }
  return expected.startsWith('a mapping of default') ? `write { default: ${value} }` : undefined
}

function suggestList(tasks: Readonly<Record<string, unknown>>): string | undefined {
  const [name] = Object.keys(tasks)
  return name === undefined ? undefined : `write "- name: ${name}" and indent its keys below that`
}
