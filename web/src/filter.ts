// The language of filters, as the server reads it: words, `name:value`, `name:"value with spaces"`. Here it is only taken
// apart, to show its parts as chips and to complete what is typed; what it means is the server's.

export type Term = {
  /** As it is written. */
  readonly text: string
  readonly qualifier: string | undefined
  readonly value: string
}

const TERM = /(?:([a-z_]+):)?(?:"((?:[^"\\]|\\.)*)"?|(\S+))|[a-z_]+:/giy

/** The parts of a filter. What is not well formed is a part as well: the server says what is wrong with it. */
export function readFilter(text: string): Term[] {
  const terms: Term[] = []
  const trimmed = text.trimEnd()
  let at = 0
  while (at < trimmed.length) {
    if (/\s/.test(trimmed[at] ?? '')) {
      at += 1
      continue
    }
    TERM.lastIndex = at
    const found = TERM.exec(trimmed)
    const written = found?.[0] || trimmed.slice(at)
    const [, qualifier, quoted, plain] = found ?? []
    const value = quoted === undefined ? (plain ?? '') : quoted.replace(/\\(.)/g, '$1')
    terms.push({ text: written, qualifier: qualifier?.toLowerCase(), value })
    at += written.length
  }
  return terms
}

export const writeFilter = (terms: readonly { readonly text: string }[]): string =>
  terms.map(({ text }) => text).join(' ')

const inQuotes = (text: string) => `"${text.replace(/["\\]/g, '\\$&')}"`

/** A value as it must be written behind a qualifier. */
export const quoted = (value: string): string => (/[\s"\\]/.test(value) || value === '' ? inQuotes(value) : value)

/** A text as it must be written to be searched for: what stands before a colon would be read as a qualifier. */
export const quotedWord = (text: string): string => (text.includes(':') ? inQuotes(text) : quoted(text))

export type Qualifier = {
  readonly name: string
  /** What it is about, in a few words. */
  readonly hint: string
  readonly values?: readonly string[]
}

export type Completion = {
  readonly text: string
  readonly hint: string
  /** It is whole: a chip, and not the beginning of one. */
  readonly isWhole: boolean
}

const MOST = 12

/** What could be meant by what is typed, best first. */
export function complete(typed: string, qualifiers: readonly Qualifier[]): Completion[] {
  const [, name, value = ''] = /^([a-z_]+):"?(.*)$/is.exec(typed) ?? []
  const known = qualifiers.find((one) => one.name === name?.toLowerCase())
  if (known !== undefined) return completeValue(known, value)
  const begun = typed.toLowerCase()
  const names = qualifiers
    .filter((one) => one.name.startsWith(begun))
    .map((one) => ({ text: `${one.name}:`, hint: one.hint, isWhole: false }))
  const values = begun.length < 2 ? [] : qualifiers.flatMap((one) => completeValue(one, typed))
  return [...names, ...values].slice(0, MOST)
}

/** Several states are one value, separated by commas: the last of them is completed. */
function completeValue({ name, hint, values = [] }: Qualifier, value: string): Completion[] {
  const parts = value.split(',')
  const last = (parts.pop() ?? '').toLowerCase()
  const before = parts.length === 0 ? '' : `${parts.join(',')},`
  return values
    .filter((one) => one.toLowerCase().includes(last) && !parts.includes(one))
    .sort((a, b) => Number(!a.toLowerCase().startsWith(last)) - Number(!b.toLowerCase().startsWith(last)))
    .slice(0, MOST)
    .map((one) => ({ text: `${name}:${quoted(before + one)}`, hint, isWhole: true }))
}

/** What a filter is asked about when something happened. */
export type Happened = {
  readonly scope: string
  readonly key: string | null
  readonly kind: string | null
  readonly queue: string | null
  readonly task: string | null
  readonly to: string | null
}

/** Whether what happened may concern a filter of tasks. In doubt it may: the server decides when it is asked. */
export function mayConcern(terms: readonly Term[], happened: Happened): boolean {
  const is = (value: string | null) => (pattern: string) =>
    pattern.endsWith('*') ? (value ?? '').startsWith(pattern.slice(0, -1)) : value === pattern
  const tests: Record<string, (pattern: string) => boolean> = {
    state: (pattern) => happened.to !== null && pattern.toLowerCase().split(',').includes(happened.to),
    scope: is(happened.scope),
    kind: is(happened.kind),
    queue: is(happened.queue),
    key: is(happened.key),
    id: is(happened.task),
  }
  const names = new Set(terms.map(({ qualifier }) => qualifier))
  const text = `${happened.scope} ${happened.key ?? ''} ${happened.kind ?? ''}`.toLowerCase()
  return [...names].every((name) => {
    const own = terms.filter(({ qualifier }) => qualifier === name)
    if (name === undefined) return own.every(({ value }) => text.includes(value.toLowerCase()))
    const meets = tests[name]
    return meets === undefined || own.some(({ value }) => meets(value))
  })
}
