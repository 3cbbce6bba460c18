import { type Chunk, Chunks } from './chunks.ts'
import { countLines } from './count-lines.ts'
import { createMasker, type Masker } from './mask.ts'
import { insertChunk, measure } from './output.sql.ts'
import type { OutputSize, OutputStream, OutputWriter, OutputWriterOptions } from './output.ts'
import { patiently } from './patiently.ts'
import { Tail } from './tail.ts'

const LIMIT_BYTES = 64 * 1024 * 1024
const TAIL_SHARE = 4 // so much less than of the beginning is kept of the end
const LINGER_MS = 100 // a reader sees a line this much later at most, plus one insert
const HIGH_BYTES = 1024 * 1024 // taken while the database is behind; the caller waits above it
const LOW_BYTES = HIGH_BYTES / 2
const NONE: OutputSize = { mixed: 0, stdout: 0, stderr: 0 }

/** Begins the output of an attempt. */
export function createOutputWriter(options: OutputWriterOptions): OutputWriter {
  return new Writer(options, NONE, NONE)
}

/**
 * Goes on with the output of an attempt whose writer died, given everything **from the beginning** again: what is
 * stored is recognised by its length and passed over, so nothing is lost or doubled. The secrets must be the same.
 */
export async function resumeOutputWriter(options: OutputWriterOptions): Promise<OutputWriter> {
  const of = { task: options.task, attempt: options.attempt }
  const lines = await countLines(options.pool, of)
  const found = await measure(options.pool, of)
  if (found === undefined) return createOutputWriter(options)
  const stored = { mixed: Number(found.mixed), stdout: Number(found.stdout), stderr: Number(found.stderr) }
  return new Writer(options, stored, lines)
}

class Writer implements OutputWriter {
  readonly #options: OutputWriterOptions
  readonly #limit: number
  /** What came behind the limit: the last of it is stored when the command has ended. */
  readonly #tail: Tail
  readonly #maskers: Record<OutputStream, Masker>
  readonly #chunks: Chunks
  readonly #mark: string
  #isMarked = false
  #isClosed = false
  readonly #queue: Chunk[] = []
  /** Bytes that were stored before, marks included, still to be passed over. */
  #skip: number
  #taken = 0
  #pending = 0
  #stored: OutputSize
  #timer: NodeJS.Timeout | undefined
  #isStoring = false
  #error: unknown
  #waiting: { readonly below: number; readonly resolve: () => void; readonly reject: (error: unknown) => void }[] = []

  constructor(options: OutputWriterOptions, stored: OutputSize, lines: OutputSize) {
    this.#options = options
    this.#limit = options.limitBytes ?? LIMIT_BYTES
    const mask = options.mask ?? []
    this.#maskers = { stdout: createMasker(mask), stderr: createMasker(mask) }
    this.#chunks = new Chunks(stored, lines)
    this.#stored = stored
    this.#skip = stored.mixed
    const tailBytes = Math.max(1, Math.floor(this.#limit / TAIL_SHARE))
    this.#tail = new Tail(tailBytes)
    const end = `its last ${inWords(tailBytes)} follow when the command has ended`
    this.#mark = `\n[millrace: output cut after ${inWords(this.#limit)}; ${end}]`
    options.signal?.addEventListener('abort', () => this.#forget(), { once: true })
    if (options.signal?.aborted) this.#forget()
  }

  write(stream: OutputStream, bytes: Buffer): Promise<void> | void {
    if (this.#error !== undefined) return Promise.reject(this.#error)
    this.#take(stream, this.#maskers[stream].push(bytes))
    if (this.#pending > HIGH_BYTES) return this.#until(LOW_BYTES)
  }

  async flush(): Promise<void> {
    this.#enqueue(this.#chunks.seal())
    await this.#until(0)
  }

  async close(): Promise<OutputSize> {
    for (const stream of ['stdout', 'stderr'] as const) this.#take(stream, this.#maskers[stream].end())
    if (!this.#isClosed) await this.#storeTail()
    this.#isClosed = true
    await this.flush()
    return this.#stored
  }

  #take(stream: OutputStream, masked: Buffer): void {
    if (this.#error !== undefined || this.#options.signal?.aborted) return
    const kept = masked.subarray(0, this.#limit - this.#taken)
    this.#taken += kept.length
    this.#append(stream, kept)
    this.#tail.push(stream, masked.subarray(kept.length))
    if (!this.#tail.isCut || this.#isMarked) return
    this.#isMarked = true
    this.#appendMark(this.#mark)
  }

  /** The end of what was longer than the limit, behind marks that say how much of each stream is missing before it. */
  async #storeTail(): Promise<void> {
    if (this.#tail.isCut) {
      const missing = this.#tail.missing()
      for (const stream of ['stdout', 'stderr'] as const) {
        const text = `\n[millrace: ${missing[stream]} bytes of ${stream} are missing here]\n`
        if (missing[stream] > 0) this.#appendMark(text, stream)
      }
    }
    for (const { stream, bytes } of this.#tail.runs()) {
      this.#append(stream, bytes)
      if (this.#pending > HIGH_BYTES) await this.#until(LOW_BYTES)
    }
  }

  #append(stream: OutputStream, bytes: Buffer): void {
    if (this.#error !== undefined || this.#options.signal?.aborted) return
    const fresh = bytes.subarray(this.#pass(bytes.length))
    this.#enqueue(this.#chunks.append(stream, fresh))
    if (!this.#chunks.isEmpty) this.#timer ??= setTimeout(() => this.#enqueue(this.#chunks.seal()), LINGER_MS)
    this.#pending += fresh.length
  }

  #appendMark(text: string, stream?: OutputStream): void {
    if (this.#error !== undefined || this.#options.signal?.aborted) return
    const length = Buffer.byteLength(text)
    if (this.#pass(length) > 0) return // a mark is stored as a whole
    if (stream !== undefined) this.#pending += length
    this.#enqueue(this.#chunks.mark(text, stream))
  }

  /** How many of the next bytes are stored already. */
  #pass(length: number): number {
    const passed = Math.min(this.#skip, length)
    this.#skip -= passed
    return passed
  }

  #enqueue(chunks: readonly Chunk[]): void {
    this.#queue.push(...chunks)
    if (this.#chunks.isEmpty) {
      clearTimeout(this.#timer)
      this.#timer = undefined
    }
    if (!this.#isStoring && this.#queue.length > 0) void this.#store()
  }

  /** Stores what is queued, chunk after chunk, until there is none. Never throws: who waits is told. */
  async #store(): Promise<void> {
    this.#isStoring = true
    try {
      for (let chunk = this.#queue[0]; chunk !== undefined; chunk = this.#queue[0]) {
        await patiently(this.#options.signal, () => insert(this.#options, chunk))
        if (this.#queue[0] !== chunk) break // forgotten meanwhile
        this.#queue.shift()
        this.#count(chunk)
      }
    } catch (error) {
      this.#error = error
      this.#forget()
    } finally {
      this.#isStoring = false
    }
    this.#tell()
  }

  #count({ bytes, stdoutLength, stderrLength }: Chunk): void {
    this.#pending -= stdoutLength + stderrLength
    this.#stored = {
      mixed: this.#stored.mixed + bytes.length,
      stdout: this.#stored.stdout + stdoutLength,
      stderr: this.#stored.stderr + stderrLength,
    }
    this.#tell()
    this.#options.onStored?.(this.#stored.mixed)
  }

  #forget(): void {
    this.#queue.length = 0
    this.#chunks.seal()
    this.#pending = 0
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#tell()
  }

  /** Resolves when no more than `bytes` wait to be stored; of 0: when none do, marks included. */
  #until(bytes: number): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ below: bytes, resolve, reject })
      this.#tell()
    })
  }

  #tell(): void {
    const waiting = this.#waiting
    this.#waiting = []
    for (const one of waiting) {
      if (this.#error !== undefined) one.reject(this.#error)
      else if (one.below > 0 ? this.#pending <= one.below : this.#queue.length === 0) one.resolve()
      else this.#waiting.push(one)
    }
  }
}

function insert({ pool, task, attempt }: OutputWriterOptions, chunk: Chunk): Promise<void> {
  return insertChunk(pool, {
    task,
    attempt,
    start: String(chunk.start),
    stdout_start: String(chunk.stdoutStart),
    stderr_start: String(chunk.stderrStart),
    stdout_length: chunk.stdoutLength,
    stderr_length: chunk.stderrLength,
    runs: chunk.runs,
    bytes: chunk.bytes,
    lines: String(chunk.lines.mixed),
    stdout_lines: String(chunk.lines.stdout),
    stderr_lines: String(chunk.lines.stderr),
    error_at: chunk.errorAt,
  })
}

function inWords(bytes: number): string {
  const units = ['bytes', 'KiB', 'MiB', 'GiB'] as const
  const power = units.findLastIndex((_, i) => bytes >= 1024 ** i && bytes % 1024 ** i === 0)
  return `${bytes / 1024 ** Math.max(0, power)} ${units[Math.max(0, power)]}`
}
