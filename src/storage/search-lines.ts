import { RE2JS, RE2JSException } from 're2js'
import type { Db } from '../db/index.ts'
import { InvalidPattern } from './errors.ts'
import { findLine, type LinesOf, measureLines, type OutputLine, type Part, readParts, walkLines } from './read-lines.ts'
import { countLineFeeds } from './tally-lines.ts'

/** Of each line so much is searched: a pattern is compared with all of it at once. */
const TEXT_LINE_BYTES = 64 * 1024
const PATTERN_LINE_BYTES = 16 * 1024
/** Steps of the machine that a pattern becomes; each character of a line may take as many. */
const LARGEST_PATTERN = 1000
const LONGEST_PATTERN = 200
const SHOWN_CHARACTERS = 4096
const MOST_RANGES = 100
const BLOCK_BYTES = 256 * 1024
const LINE_FEED = 10
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
  /** Begin and end of each match in the text of the line, in UTF-16 units; the first hundred, fewer when time is over. */
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
  const search = new Search(options)
  const { total, bytes: end } = await measureLines(db, of)
  let start = await findLine(db, of, options.from)
  while (start !== undefined && start < end && !search.isOver) {
    const parts = await readParts(db, of, { from: start, end, most: BLOCK_BYTES })
    const bytes = Buffer.concat(parts.map((part) => part.bytes))
    if (bytes.length === 0) break
    // Up to the last line that is whole; what is stored last may have no line feed.
    const length = start + bytes.length >= end ? bytes.length : bytes.lastIndexOf(LINE_FEED) + 1
    if (length > 0) {
      search.block({ bytes: bytes.subarray(0, length), parts, start, end })
      start += length
    } else {
      for await (const line of walkLines(db, of, { from: search.next, end, lineBytes: search.lineBytes })) {
        search.line(line)
        break
      }
      start = await findLine(db, of, search.next)
    }
  }
  return { lines: search.found, next: search.next <= total ? search.next : null, total, cut: search.cut }
}

type Block = {
  readonly bytes: Buffer
  readonly parts: readonly Part[]
  readonly start: number
  /** Of all that is stored. */
  readonly end: number
}

/** What was found so far, and where to go on. */
class Search {
  readonly found: FoundLine[] = []
  readonly lineBytes: number
  next: number
  cut = 0
  readonly #matcher: Matcher
  readonly #limit: number
  /** Undefined before anything was searched: each request gets on by a line at least, however long its reading took. */
  #until: number | undefined
  #searched = 0

  constructor(options: SearchOptions) {
    this.#matcher = options.isRegex ? byPattern(options) : byText(options)
    this.lineBytes = options.isRegex ? PATTERN_LINE_BYTES : TEXT_LINE_BYTES
    this.next = Math.max(1, options.from)
    this.#limit = options.limit
  }

  get isOver(): boolean {
    return this.found.length >= this.#limit || this.#searched >= SEARCH_BYTES || this.#isLate()
  }

  #isLate(): boolean {
    return this.#until !== undefined && performance.now() > this.#until
  }

  /** Looks through lines that follow each other; through none of them when nothing is in all together. */
  block({ bytes, parts, start, end }: Block): void {
    this.#until ??= performance.now() + SEARCH_MS
    this.#searched += bytes.length
    if (!this.#matcher.mayBeIn(bytes)) {
      this.next += countLineFeeds(bytes) + (bytes.at(-1) === LINE_FEED ? 0 : 1)
      return
    }
    for (let at = 0; at < bytes.length; ) {
      const feed = bytes.indexOf(LINE_FEED, at)
      const to = feed < 0 ? bytes.length : feed
      const text = bytes.toString('utf8', at, Math.min(to, at + this.lineBytes))
      const of = { start: start + at, length: to - at, isOpen: feed < 0 && start + to >= end }
      this.line({ ...of, number: this.next, text, isCut: to - at > this.lineBytes, ...ownerOf(parts, at, to) })
      at = to + 1
      if (this.isOver) return
    }
  }

  line(line: OutputLine): void {
    this.#until ??= performance.now() + SEARCH_MS
    this.next = line.number + 1
    if (line.isCut) this.cut += 1
    if (!this.#matcher.isIn(line.text)) return
    const ranges = this.#matcher.rangesIn(line.text, () => this.#isLate())
    this.found.push({ ...line, text: line.text.slice(0, SHOWN_CHARACTERS), ranges })
  }
}

/** Who wrote what lies there, and when its beginning was stored. */
function ownerOf(parts: readonly Part[], from: number, to: number): Pick<OutputLine, 'stream' | 'at'> {
  let begin = 0
  let owner: Pick<OutputLine, 'stream' | 'at'> | undefined
  for (const part of parts) {
    const end = begin + part.bytes.length
    if (owner === undefined ? end > from : begin < to) {
      const { stream, at }: Pick<OutputLine, 'stream' | 'at'> = owner ?? part
      owner = { at, stream: stream === part.stream ? stream : 'both' }
    } else if (owner !== undefined) break
    begin = end
  }
  return owner ?? { stream: 'mark', at: new Date(0) }
}

type Matcher = {
  /** False: no line of it can match. */
  mayBeIn(bytes: Buffer): boolean
  isIn(text: string): boolean
  /** The first, and more of them until it is late. */
  rangesIn(text: string, isLate: () => boolean): [number, number][]
}

function byText({ query, isCaseSensitive }: SearchOptions): Matcher {
  const fold = (text: string) => (isCaseSensitive ? text : foldCase(text))
  const wanted = fold(query)
  const isIn = (text: string) => fold(text).includes(wanted)
  return {
    mayBeIn: (bytes) => isIn(bytes.toString()),
    isIn,
    rangesIn(text) {
      const ranges: [number, number][] = []
      const folded = fold(text)
      for (let at = folded.indexOf(wanted); at >= 0 && ranges.length < MOST_RANGES; ) {
        ranges.push([at, at + wanted.length])
        at = folded.indexOf(wanted, at + Math.max(1, wanted.length))
      }
      return ranges
    },
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

function byPattern({ query, isCaseSensitive }: SearchOptions): Matcher {
  const pattern = compile(query, isCaseSensitive ? 0 : RE2JS.CASE_INSENSITIVE)
  return {
    mayBeIn: () => true,
    // Far faster than finding where.
    isIn: (text) => pattern.test(text),
    rangesIn(text, isLate) {
      const matcher = pattern.matcher(text)
      const ranges: [number, number][] = []
      while (ranges.length < MOST_RANGES && matcher.find()) {
        ranges.push([matcher.start(), matcher.end()])
        if (isLate()) break
      }
      return ranges
    },
  }
}

function compile(query: string, flags: number): RE2JS {
  if (query.length > LONGEST_PATTERN)
    throw new InvalidPattern(query, `it has ${query.length} characters, and may have ${LONGEST_PATTERN}`)
  try {
    const pattern = RE2JS.compile(query, flags)
    if (pattern.programSize() > LARGEST_PATTERN) throw new InvalidPattern(query, 'it repeats too much')
    return pattern
  } catch (error) {
    if (error instanceof RE2JSException) throw new InvalidPattern(query, error.message)
    throw error
  }
}
