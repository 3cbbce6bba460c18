// The language of the search field: free words, and qualifiers such as `state:failed scope:archive:x is:stuck`. Words must
// all be found; of a qualifier that is given several times one must fit. A star at the end stands for anything.
import { InvalidQuery } from './errors.ts'
import { type TaskState, taskStates } from './task.ts'

/** A text that must be met, or with which what meets it begins. */
export type Pattern = { readonly text: string; readonly isPrefix: boolean }

export type Query = {
  readonly states: readonly TaskState[]
  readonly scopes: readonly Pattern[]
  readonly kinds: readonly Pattern[]
  readonly queues: readonly Pattern[]
  readonly keys: readonly Pattern[]
  readonly ids: readonly string[]
  readonly words: readonly string[]
  /** Only ready tasks that no dispatcher takes. */
  readonly isStuck: boolean
}

const QUALIFIERS = ['state', 'scope', 'kind', 'queue', 'key', 'id', 'is'] as const
type Qualifier = (typeof QUALIFIERS)[number]

const LONGEST = 1000
const MOST_PARTS = 50

type Part = { readonly at: number; readonly qualifier: string | undefined; readonly value: string }

/** What the text asks for. Throws `InvalidQuery` with the position of what cannot be understood. */
export function parseQuery(text: string): Query {
  if (text.length > LONGEST) throw new InvalidQuery(LONGEST, `the search is longer than ${LONGEST} characters`)
  if (text.includes('\u0000')) throw new InvalidQuery(text.indexOf('\u0000'), 'a NUL character cannot be searched for')
  const query = {
    states: [] as TaskState[],
    scopes: [] as Pattern[],
    kinds: [] as Pattern[],
    queues: [] as Pattern[],
    keys: [] as Pattern[],
    ids: [] as string[],
    words: [] as string[],
    isStuck: false,
  }
  const take = {
    state: (part) => query.states.push(...toStates(part)),
    scope: (part) => query.scopes.push(toPattern(part)),
    kind: (part) => query.kinds.push(toPattern(part)),
    queue: (part) => query.queues.push(toPattern(part)),
    key: (part) => query.keys.push(toPattern(part)),
    id: (part) => query.ids.push(toId(part)),
    is: (part) => {
      if (part.value !== 'stuck') throw new InvalidQuery(part.at, `"is:${part.value}" is not known: only "is:stuck" is`)
      query.isStuck = true
    },
  } satisfies Record<Qualifier, (part: Part) => void>
  const parts = split(text)
  if (parts.length > MOST_PARTS)
    throw new InvalidQuery(parts[MOST_PARTS]?.at ?? 0, `the search has more than ${MOST_PARTS} parts`)
  for (const part of parts) {
    if (part.qualifier === undefined) query.words.push(part.value)
    else take[toQualifier(part)](part)
  }
  return query
}

/** `name:value`, `name:"value with spaces"`, a word, or `"words with spaces"`. */
function split(text: string): Part[] {
  const parts: Part[] = []
  const pattern = /\s*(?:([a-z_]+):)?(?:"((?:[^"\\]|\\.)*)("?)|(\S+))?/giy
  while (pattern.lastIndex < text.length) {
    const start = pattern.lastIndex
    const found = pattern.exec(text) as RegExpExecArray
    const [whole, qualifier, quoted, closing, plain] = found
    const at = start + whole.length - whole.trimStart().length
    if (whole.trim() === '') {
      if (whole === '') break
      continue
    }
    if (quoted !== undefined && closing === '') throw new InvalidQuery(at, 'a quotation mark is missing')
    const value = quoted === undefined ? (plain ?? '') : quoted.replace(/\\(.)/g, '$1')
    if (value === '')
      throw new InvalidQuery(at, qualifier ? `nothing stands behind "${qualifier}:"` : 'nothing is quoted')
    parts.push({ at, qualifier: qualifier?.toLowerCase(), value })
  }
  return parts
}

function toQualifier({ at, qualifier }: Part): Qualifier {
  const known = QUALIFIERS.find((name) => name === qualifier)
  if (known !== undefined) return known
  throw new InvalidQuery(
    at,
    `"${qualifier}:" is not known; known are ${QUALIFIERS.map((name) => `${name}:`).join(' ')}`,
    `To search for these very characters, write "${qualifier}:…" in quotation marks.`,
  )
}

function toStates({ at, value }: Part): TaskState[] {
  return value.split(',').map((name) => {
    const known = taskStates.states.find((state) => state === name.toLowerCase())
    if (known !== undefined) return known
    throw new InvalidQuery(at, `"${name}" is no state; states are ${taskStates.states.join(', ')}`)
  })
}

function toId({ at, value }: Part): string {
  if (/^[1-9]\d{0,17}$/.test(value)) return value
  throw new InvalidQuery(at, `"${value}" is no id: ids are numbers`)
}

function toPattern({ value }: Part): Pattern {
  return value.endsWith('*') ? { text: value.slice(0, -1), isPrefix: true } : { text: value, isPrefix: false }
}

/** What meets one pattern of each list; `undefined` stands for a list that asks for nothing. */
export function intersect(
  a: readonly Pattern[] | undefined,
  b: readonly Pattern[] | undefined,
): readonly Pattern[] | undefined {
  if (a === undefined || b === undefined) return a ?? b
  return a.flatMap((one) => b.flatMap((other) => (covers(one, other) ? [other] : covers(other, one) ? [one] : [])))
}

/** Whether everything that meets `inner` meets `outer`. */
function covers(outer: Pattern, inner: Pattern): boolean {
  return outer.isPrefix ? inner.text.startsWith(outer.text) : !inner.isPrefix && inner.text === outer.text
}

export const meetsPattern = (text: string, patterns: readonly Pattern[]) =>
  patterns.some((pattern) => (pattern.isPrefix ? text.startsWith(pattern.text) : text === pattern.text))
