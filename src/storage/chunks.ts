import type { OutputRun, OutputSize, OutputStream } from './output.ts'
import { tallyLines } from './tally-lines.ts'

/** Bytes of a chunk at most: read at once even when only a line of it is wanted. */
export const CHUNK_BYTES = 64 * 1024

export type Chunk = {
  readonly start: number
  readonly stdoutStart: number
  readonly stderrStart: number
  readonly stdoutLength: number
  readonly stderrLength: number
  /**
   * Lengths of alternating runs, stdout first; null when all bytes belong to one stream, or to a mark that neither has;
   * empty: a mark that belongs to the stream whose length it has.
   */
  readonly runs: readonly number[] | null
  readonly bytes: Buffer
  /** Line feeds of each view from the beginning of the attempt to the end of this chunk. */
  readonly lines: OutputSize
  /** Where in it a line lies that looks like an error; null: nowhere. */
  readonly errorAt: number | null
}

/** Cuts what is appended into chunks, in order. */
export class Chunks {
  readonly #at: { mixed: number; stdout: number; stderr: number }
  #lines: OutputSize
  #parts: Buffer[] = []
  #runs: { stream: OutputStream; length: number }[] = []
  #length = 0

  /** `at` says what is stored already, in bytes; `lines` the same in line feeds. */
  constructor(at: OutputSize, lines: OutputSize) {
    this.#at = { ...at }
    this.#lines = lines
  }

  get isEmpty(): boolean {
    return this.#length === 0
  }

  /** Adds bytes and answers the chunks that became full. */
  append(stream: OutputStream, bytes: Buffer): Chunk[] {
    const full: Chunk[] = []
    for (let rest = bytes; rest.length > 0; ) {
      const part = rest.subarray(0, CHUNK_BYTES - this.#length)
      rest = rest.subarray(part.length)
      const last = this.#runs.at(-1)
      if (last?.stream === stream) last.length += part.length
      else this.#runs.push({ stream, length: part.length })
      this.#parts.push(part)
      this.#length += part.length
      if (this.#length === CHUNK_BYTES) full.push(...this.seal())
    }
    return full
  }

  /** What was appended since the last full chunk, as a chunk of its own; none when there is nothing. */
  seal(): Chunk[] {
    if (this.isEmpty) return []
    const runs = this.#runs
    const lengthOf = (stream: OutputStream) =>
      runs.reduce((sum, run) => sum + (run.stream === stream ? run.length : 0), 0)
    const lengths = runs.map((run) => run.length)
    const chunk = this.#place(Buffer.concat(this.#parts, this.#length), {
      stdoutLength: lengthOf('stdout'),
      stderrLength: lengthOf('stderr'),
      runs: runs.length === 1 ? null : runs[0]?.stream === 'stdout' ? lengths : [0, ...lengths],
    })
    this.#parts = []
    this.#runs = []
    this.#length = 0
    return [chunk]
  }

  /** A mark of Millrace's own, after what was sealed: seen in the stream as well, or only where both are read as one. */
  mark(text: string, stream?: OutputStream): Chunk[] {
    const bytes = Buffer.from(text)
    const lengthIn = (one: OutputStream) => (stream === one ? bytes.length : 0)
    const lengths = { stdoutLength: lengthIn('stdout'), stderrLength: lengthIn('stderr') }
    return [...this.seal(), this.#place(bytes, { ...lengths, runs: stream === undefined ? null : [] })]
  }

  #place(bytes: Buffer, of: Pick<Chunk, 'stdoutLength' | 'stderrLength' | 'runs'>): Chunk {
    const { lines, errorAt } = tallyLines(bytes, runsOf({ ...of, bytes }), this.#lines)
    this.#lines = lines
    const chunk = {
      start: this.#at.mixed,
      stdoutStart: this.#at.stdout,
      stderrStart: this.#at.stderr,
      ...of,
      bytes,
      lines,
      errorAt,
    }
    this.#at.mixed += bytes.length
    this.#at.stdout += of.stdoutLength
    this.#at.stderr += of.stderrLength
    return chunk
  }
}

/** To whom the bytes of a stored chunk belong, in order. */
export function runsOf(
  chunk: Pick<Chunk, 'stdoutLength' | 'stderrLength' | 'runs'> & { bytes: Buffer },
): readonly OutputRun[] {
  const stream = chunk.stdoutLength > 0 ? 'stdout' : chunk.stderrLength > 0 ? 'stderr' : 'mark'
  if (chunk.runs?.length === 0 && stream !== 'mark') return [{ stream: 'mark', of: stream, length: chunk.bytes.length }]
  if (chunk.runs !== null)
    return chunk.runs
      .map((length, i): OutputRun => ({ stream: i % 2 === 0 ? 'stdout' : 'stderr', length }))
      .filter((run) => run.length > 0)
  return [{ stream, length: chunk.bytes.length }]
}
