import { RE2JS, RE2JSException } from 're2js'
import type { Db } from '../db/index.ts'
import { InvalidPattern } from './errors.ts'
import { type LinesOf, measureLines, type OutputLine, walkLines } from './read-lines.ts'

/** Of each line so much is searched: a pattern is compared with all of it at once. */
const TEXT_LINE_BYTES = 64 * 1024
const PATTERN_LINE_BYTES = 16 * 1024
/** Steps of the machine that a pattern becomes; each character of a line may take as many. */
const LARGEST_PATTERN = 1000
const SHOWN_CHARACTERS = 4096
const MOST_RANGES = 100
/** One request looks through so much and no longer than this; the next goes on. */
const SEARCH_BYTES = 16 * 1024 * 1024
const SEARCH_MS = 250

export type SearchOptions = {
  readonly query: string
  /** RE2's language; otherwise the text as it is. */
  readonly isRegex: boolean
  readonly isCaseSensitive: boolean
  readonly from: number
  readonly limit: number
}

export type FoundLine = OutputLine & {
  /** Begin and end of each match in the text of the line, in UTF-16 units; the first hundred. */
  readonly ranges: readonly (readonly [number, number])[]
}

export type SearchPage = {
  readonly lines: readonly FoundLine[]
  /** The line to go on with; null: all that is stored was searched. */
  readonly next: number | null
  readonly total: number
  /** Lines that were too long to be searched to their end. */
  readonly cut: number
}

/**
 * Lines in which something is found, from one on. Patterns are of RE2, which looks at each character a bounded number of
 * times: no pattern can keep the server busy for long. Throws `InvalidPattern`.
 */
export async function searchLines(db: Db, of: LinesOf, options: SearchOptions): Promise<SearchPage> {
  const rangesIn = options.isRegex ? byPattern(options) : byText(options)
  const lineBytes = options.isRegex ? PATTERN_LINE_BYTES : TEXT_LINE_BYTES
  const { total, bytes } = await measureLines(db, of)
  const lines: FoundLine[] = []
  const until = performance.now() + SEARCH_MS
  let searched = 0
  let cut = 0
  let next = Math.max(1, options.from)
  if (next > total) return { lines, next: null, total, cut }
  for await (const line of walkLines(db, of, { from: next, end: bytes, lineBytes })) {
    next = line.number + 1
    searched += Math.min(line.length, lineBytes) + 1
    if (line.isCut) cut += 1
    const ranges = rangesIn(line.text)
    if (ranges.length > 0) lines.push({ ...line, text: line.text.slice(0, SHOWN_CHARACTERS), ranges })
    if (lines.length >= options.limit || searched >= SEARCH_BYTES || performance.now() > until) break
  }
  return { lines, next: next <= total ? next : null, total, cut }
}

type RangesIn = (text: string) => [number, number][]

function byText({ query, isCaseSensitive }: SearchOptions): RangesIn {
  const fold = (text: string) => (isCaseSensitive ? text : foldCase(text))
  const wanted = fold(query)
  return (text) => {
    const ranges: [number, number][] = []
    const folded = fold(text)
    for (let at = folded.indexOf(wanted); at >= 0 && ranges.length < MOST_RANGES; ) {
      ranges.push([at, at + wanted.length])
      at = folded.indexOf(wanted, at + Math.max(1, wanted.length))
    }
    return ranges
  }
}

/** Without a change of length, so that places stay what they are. */
function foldCase(text: string): string {
  const folded = text.toLowerCase()
  return folded.length === text.length ? folded : Array.from(text, oneFolded).join('')
}

function oneFolded(character: string): string {
  const folded = character.toLowerCase()
  return folded.length === character.length ? folded : character
}

function byPattern({ query, isCaseSensitive }: SearchOptions): RangesIn {
  const pattern = compile(query, isCaseSensitive ? 0 : RE2JS.CASE_INSENSITIVE)
  return (text) => {
    const matcher = pattern.matcher(text)
    const ranges: [number, number][] = []
    while (ranges.length < MOST_RANGES && matcher.find()) ranges.push([matcher.start(), matcher.end()])
    return ranges
  }
}

function compile(query: string, flags: number): RE2JS {
  try {
    const pattern = RE2JS.compile(query, flags)
    if (pattern.programSize() > LARGEST_PATTERN) throw new InvalidPattern(query, 'it repeats too much')
    return pattern
  } catch (error) {
    if (error instanceof RE2JSException) throw new InvalidPattern(query, error.message)
    throw error
  }
}
