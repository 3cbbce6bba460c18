// Patterns for paths. They are matched by walking states, never by a regular expression: the time is bounded by pattern
// times path, whatever someone commits.

/** A pattern that was read. Paths have no leading slash; a folder's path ends with one. */
export type Glob = { readonly alternatives: readonly (readonly Segment[])[] }
export type GlobProblem = {
  /** Where in the pattern; the whole of it when they are not given. */
  readonly at?: number
  readonly length?: number
  readonly message: string
  readonly suggestion?: string
}

export type Segment = typeof ANY_DEPTH | readonly Atom[]
export type Atom =
  | { readonly kind: 'letter'; readonly letter: string }
  | { readonly kind: 'one' }
  | { readonly kind: 'any' }
  | { readonly kind: 'set'; readonly isNegated: boolean; readonly ranges: readonly (readonly [string, string])[] }

export const ANY_DEPTH = '**'
const MOST_ALTERNATIVES = 64
const LONGEST = 500
const SPECIAL = '*?[]{},\\!'

/** A pattern for paths: `*` and `?` stay within a folder, `**` is any number of folders, a `/` at the end is all below. */
export function parseGlob(text: string): Glob | GlobProblem {
  const problem = findPathProblem(text)
  if (problem) return problem
  const alternatives = expandBraces(text.endsWith('/') ? `${text}**` : text)
  if (!Array.isArray(alternatives)) return alternatives
  const parsed: Segment[][] = []
  for (const alternative of alternatives) {
    const segments: Segment[] = []
    for (const part of alternative.split('/')) {
      const segment = part === ANY_DEPTH ? ANY_DEPTH : parseSegment(part, text)
      if (isGlobProblem(segment)) return segment
      segments.push(segment)
    }
    // What is below a folder does not include the folder: at the end, any depth means at least one.
    parsed.push(segments.at(-1) === ANY_DEPTH ? [...segments, [{ kind: 'any' }]] : segments)
  }
  return { alternatives: parsed }
}

/** A pattern for texts that are no paths, such as an author: `*` goes over any characters, slashes too. */
export function parseTextGlob(text: string): Glob | GlobProblem {
  if (text.length > LONGEST) return refuse(`a pattern has at most ${LONGEST} characters`)
  const alternatives = expandBraces(text)
  if (!Array.isArray(alternatives)) return alternatives
  const parsed: Segment[][] = []
  for (const alternative of alternatives) {
    const segment = parseSegment(alternative.replace(/\*{2,}/g, '*'), text)
    if (isGlobProblem(segment)) return segment
    parsed.push([segment])
  }
  return { alternatives: parsed }
}

export function isGlobProblem(value: Glob | Segment | GlobProblem): value is GlobProblem {
  return typeof value === 'object' && 'message' in value
}

function findPathProblem(text: string): GlobProblem | undefined {
  if (text === '') return refuse('a pattern cannot be empty')
  if (text.length > LONGEST) return refuse(`a pattern has at most ${LONGEST} characters`)
  if (text.startsWith('!')) return refuse('a pattern cannot be negated', 'use paths-ignore')
  const leading = /^\.?\/+/.exec(text)?.[0]
  if (leading !== undefined) {
    const rest = text.slice(leading.length)
    const message = 'patterns begin at the root, without a slash or dot'
    return { at: 0, length: leading.length, message, ...(rest !== '' && { suggestion: `write "${rest}"` }) }
  }
  const dots = /(^|\/)(\.\.?)(?=\/|$)/.exec(text)
  if (dots)
    return {
      at: dots.index + (dots[1] ?? '').length,
      length: (dots[2] ?? '').length,
      message: 'a pattern cannot hold . or .. as a folder',
    }
  const empty = text.indexOf('//')
  return empty < 0 ? undefined : { at: empty, length: 2, message: 'a pattern cannot hold an empty folder name' }
}

/** Every way to choose one word of each `{a,b}`; braces may be nested. */
function expandBraces(text: string): string[] | GlobProblem {
  let done: string[] = []
  let open = [text]
  while (open.length > 0) {
    const next: string[] = []
    for (const one of open) {
      const brace = findBrace(one)
      if (brace === undefined) done = [...done, one]
      else if (brace === 'unclosed') return refuse('a { is not closed, or a } not opened')
      else for (const word of brace.words) next.push(one.slice(0, brace.from) + word + one.slice(brace.to))
      if (done.length + next.length > MOST_ALTERNATIVES)
        return refuse(`the braces stand for more than ${MOST_ALTERNATIVES} patterns`)
    }
    open = next
  }
  return done
}

type Brace = { from: number; to: number; words: string[] }

function findBrace(text: string): Brace | 'unclosed' | undefined {
  let depth = 0
  let from = 0
  let cut = 0
  const words: string[] = []
  for (let at = 0; at < text.length; at += 1) {
    const letter = text[at]
    if (letter === '\\') at += 1
    else if (letter === '{') {
      if (depth === 0) [from, cut] = [at, at + 1]
      depth += 1
    } else if (letter === ',' && depth === 1) {
      words.push(text.slice(cut, at))
      cut = at + 1
    } else if (letter === '}') {
      depth -= 1
      if (depth < 0) return 'unclosed'
      if (depth === 0) return { from, to: at + 1, words: [...words, text.slice(cut, at)] }
    }
  }
  return depth > 0 ? 'unclosed' : undefined
}

function parseSegment(part: string, text: string): Atom[] | GlobProblem {
  const letters = Array.from(part)
  const atoms: Atom[] = []
  for (let at = 0; at < letters.length; at += 1) {
    const [letter, next] = [letters[at] as string, letters[at + 1]]
    if (letter === '*') {
      if (next === '*') return refuse('** must stand alone between slashes', suggestDeep(text))
      atoms.push({ kind: 'any' })
    } else if (letter === '?') atoms.push({ kind: 'one' })
    else if (letter === '\\') {
      if (next === undefined || !SPECIAL.includes(next))
        return refuse('a backslash may stand before a special character only', 'use / between folders')
      atoms.push({ kind: 'letter', letter: next })
      at += 1
    } else if (letter === '[') {
      const set = parseSet(letters, at)
      if (set === undefined) return refuse('a [ is not closed, or nothing stands in it')
      atoms.push(set.atom)
      at = set.end
    } else atoms.push({ kind: 'letter', letter })
  }
  return atoms
}

function suggestDeep(text: string): string | undefined {
  const rewritten = text.replace(/(^|\/)\*\*(?=[^/*])/g, '$1**/*')
  return rewritten === text ? undefined : `write "${rewritten}"`
}

function parseSet(part: readonly string[], start: number): { atom: Atom; end: number } | undefined {
  const isNegated = part[start + 1] === '!' || part[start + 1] === '^'
  const first = start + (isNegated ? 2 : 1)
  const end = part.indexOf(']', first + 1)
  if (end < 0) return undefined
  const ranges: [string, string][] = []
  for (let at = first; at < end; at += 1) {
    const from = part[at] as string
    const isRange = part[at + 1] === '-' && at + 2 < end
    ranges.push([from, isRange ? (part[at + 2] as string) : from])
    if (isRange) at += 2
  }
  return { atom: { kind: 'set', isNegated, ranges }, end }
}

const refuse = (message: string, suggestion?: string): GlobProblem => ({ message, ...(suggestion && { suggestion }) })
