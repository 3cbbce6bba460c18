// Lines of what an attempt printed, a page at a time, from any line on: each costs the same, however much is before it.
import { StringDecoder } from 'node:string_decoder'
import type { Db } from '../db/index.ts'
import { countLines } from './count-lines.ts'
import {
  findErrors,
  findMixedLine,
  findStderrLine,
  findStdoutLine,
  lastMixed,
  lastStderr,
  lastStdout,
} from './lines.sql.ts'
import type { OutputOf, OutputRun, OutputView } from './output.ts'
import { partsOf, statements } from './read.ts'
import { countLineFeeds, looksLikeError } from './tally-lines.ts'

/** Of one line so much is answered; the rest is had by its offset. */
const LINE_BYTES = 16 * 1024
const PAGE_BYTES = 1024 * 1024
const PIECE_BYTES = 64 * 1024
const ROWS = 512
const LINE_FEED = 10
const ERROR_CHUNKS = 20

const finders = { mixed: findMixedLine, stdout: findStdoutLine, stderr: findStderrLine } satisfies Record<
  OutputView,
  unknown
>
const lasts = { mixed: lastMixed, stdout: lastStdout, stderr: lastStderr } satisfies Record<OutputView, unknown>

export type LinesOf = OutputOf & { readonly stream: OutputView }

export type OutputLine = {
  /** The first line is 1. */
  readonly number: number
  /** Offset of its first byte in the view. */
  readonly start: number
  /** In bytes, without its line feed. */
  readonly length: number
  /** Of both, when they shared the line. */
  readonly stream: OutputRun['stream'] | 'both'
  /** When its beginning was stored. */
  readonly at: Date
  /** The first 16 KiB; what is no UTF-8 is shown as U+FFFD. */
  readonly text: string
  readonly isCut: boolean
  /** It has no line feed yet. */
  readonly isOpen: boolean
}

export type LinePage = {
  readonly lines: readonly OutputLine[]
  /** The first line that is not among them; null: nothing more is stored at present. */
  readonly next: number | null
  readonly total: number
  readonly bytes: number
}

/** How many lines and bytes of the view are stored. A last line without a line feed counts. */
export async function measureLines(db: Db, of: LinesOf): Promise<{ readonly total: number; readonly bytes: number }> {
  await countLines(db, of)
  const { task, attempt, stream } = of
  const last = await lasts[stream](db, { task, attempt })
  if (last === undefined) return { total: 0, bytes: 0 }
  const bytes = Buffer.concat(partsOf(last, stream).map((part) => part.bytes))
  const isOpen = bytes.at(-1) !== LINE_FEED
  return { total: Number(last.lines) + (isOpen ? 1 : 0), bytes: Number(last.at) + bytes.length }
}

/** Where a line begins in its view; undefined when there is no such line. */
export async function findLine(
  db: Db,
  { task, attempt, stream }: LinesOf,
  number: number,
): Promise<number | undefined> {
  if (number <= 1) return 0
  const wanted = number - 1 // the line feed before it
  const chunk = await finders[stream](db, { task, attempt, line: String(wanted) })
  if (chunk === undefined) return undefined
  const bytes = Buffer.concat(partsOf(chunk, stream).map((part) => part.bytes))
  let count = Number(chunk.lines) - countLineFeeds(bytes)
  let at = -1
  while (count < wanted) {
    at = bytes.indexOf(LINE_FEED, at + 1)
    count += 1
  }
  return Number(chunk.at) + at + 1
}

/**
 * Lines from `from` on, `limit` at most and about a megabyte of text. A negative `from` counts from the end. Of a line that
 * is longer than what is answered of it the rest is not read either.
 */
export async function readLines(
  db: Db,
  of: LinesOf,
  { from, limit }: { readonly from: number; readonly limit: number },
): Promise<LinePage> {
  const { total, bytes } = await measureLines(db, of)
  const first = from < 0 ? Math.max(1, total + from + 1) : Math.max(1, from)
  if (first > total) return { lines: [], next: null, total, bytes }
  const lines: OutputLine[] = []
  let size = 0
  for await (const line of walkLines(db, of, { from: first, end: bytes })) {
    lines.push(line)
    size += line.text.length
    if (lines.length >= limit || size >= PAGE_BYTES) break
  }
  const next = (lines.at(-1)?.number ?? first - 1) + 1
  return { lines, next: next <= total ? next : null, total, bytes }
}

type Walk = { readonly from: number; readonly end: number; readonly lineBytes?: number }

/** The lines from one on up to the offset `end`, in order, each with at most `lineBytes` of its text. */
export async function* walkLines(
  db: Db,
  of: LinesOf,
  { from, end, lineBytes = LINE_BYTES }: Walk,
): AsyncGenerator<OutputLine, void, undefined> {
  const start = await findLine(db, of, from)
  if (start === undefined) return
  let line = new LineInProgress(from, start, lineBytes)
  for (let at = start; at < end; ) {
    const parts = await readParts(db, of, { from: at, end })
    if (parts.length === 0) break
    for (const part of parts) {
      for (let rest = part.bytes; rest.length > 0; ) {
        const feed = rest.indexOf(LINE_FEED)
        const own = feed < 0 ? rest : rest.subarray(0, feed)
        line.take(own, part)
        at += own.length
        rest = rest.subarray(own.length)
        if (feed < 0) break
        if (own.length === 0) line.touch(part)
        yield line.end(at, false)
        at += 1
        rest = rest.subarray(1)
        line = new LineInProgress(line.number + 1, at, lineBytes)
      }
    }
    if (!line.isFull || at >= end) continue
    // The rest of a long line is not wanted: on to where the next one begins.
    const next = await findLine(db, of, line.number + 1)
    if (next === undefined || next > end) break
    yield line.end(next - 1, false)
    at = next
    line = new LineInProgress(line.number + 1, at, lineBytes)
  }
  if (end > line.start) yield line.end(end, true)
}

export type Part = { readonly bytes: Buffer; readonly stream: OutputRun['stream']; readonly at: Date }

/** The view from an offset on, as it lies in the chunks. */
export async function readParts(
  db: Db,
  { task, attempt, stream }: LinesOf,
  { from, end, most = PIECE_BYTES }: { readonly from: number; readonly end: number; readonly most?: number },
): Promise<Part[]> {
  const before = Math.min(end, from + most)
  const range = { task, attempt, from: String(from), before: String(before), limit: ROWS }
  return (await statements[stream](db, range)).flatMap((row) => {
    let at = Number(row.at)
    return partsOf(row, stream).flatMap(({ bytes, run }) => {
      const wanted = bytes.subarray(Math.max(0, from - at), Math.max(0, before - at))
      at += bytes.length
      return wanted.length === 0 ? [] : [{ bytes: wanted, stream: run.stream, at: row.stored_at }]
    })
  })
}

class LineInProgress {
  readonly number: number
  readonly start: number
  readonly #most: number
  readonly #kept: Buffer[] = []
  #size = 0
  #stream: OutputLine['stream'] | undefined
  #at: Date | undefined

  constructor(number: number, start: number, most: number) {
    this.number = number
    this.start = start
    this.#most = most
  }

  get isFull(): boolean {
    return this.#size >= this.#most
  }

  take(bytes: Buffer, part: Part): void {
    if (bytes.length === 0) return
    this.touch(part)
    const kept = bytes.subarray(0, this.#most - this.#size)
    this.#kept.push(kept)
    this.#size += kept.length
  }

  /** A line belongs to whoever wrote its bytes; an empty one to whoever ended it. */
  touch({ stream, at }: Part): void {
    this.#at ??= at
    this.#stream = this.#stream === undefined || this.#stream === stream ? stream : 'both'
  }

  end(at: number, isOpen: boolean): OutputLine {
    const length = at - this.start
    const isCut = length > this.#size
    // A character that the cut went through is left out, one that was never whole is shown.
    const bytes = this.#kept.length === 1 ? (this.#kept[0] as Buffer) : Buffer.concat(this.#kept)
    const text = isCut ? new StringDecoder('utf8').write(bytes) : bytes.toString()
    const stream = this.#stream ?? 'mark'
    return { number: this.number, start: this.start, length, stream, at: this.#at ?? new Date(0), text, isCut, isOpen }
  }
}

/** The first line of the view that looks like an error; undefined when none does, as far as can be told cheaply. */
export async function findFirstError(db: Db, { task, attempt, stream }: LinesOf): Promise<number | undefined> {
  for (const row of await findErrors(db, { task, attempt, limit: ERROR_CHUNKS })) {
    const bytes = Buffer.concat(partsOf(row, stream).map((part) => part.bytes))
    const lines = { mixed: row.lines, stdout: row.stdout_lines, stderr: row.stderr_lines }[stream]
    const found = bytes.toString('latin1').split('\n')
    const index = found.findIndex(looksLikeError)
    if (index >= 0) return Number(lines) - (found.length - 1) + index + 1
  }
  return undefined
}
