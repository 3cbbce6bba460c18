// What a task's attempt prints, kept in the database: a worker on another machine writes it, the server reads it.
//
// The attempt's streams are kept as one: bytes in the order in which they were written, cut into chunks. A chunk knows
// where it begins in the whole ("mixed") and in each stream, and which of its runs of bytes belong to which, so that
// every view is read by offset at the same cost, however long the output is.
import type { Pool } from '../db/index.ts'

export type OutputStream = 'stdout' | 'stderr'
export type OutputView = 'mixed' | OutputStream

/** One performance of a task: its id and the epoch of its lease. */
export type OutputOf = { readonly task: string; readonly attempt: number }

export type OutputWriterOptions = OutputOf & {
  readonly pool: Pool
  /**
   * So much is kept of the beginning, and a quarter of it of the end; marks say how much is missing between them. The end is
   * held in memory until the command has ended. Default: 64 MiB.
   */
  readonly limitBytes?: number
  /** Secrets: each occurrence is replaced by `***` before anything is stored. */
  readonly mask?: readonly string[]
  /** Called after bytes became readable, for whoever passes hints on to readers. */
  readonly onStored?: (size: number) => void
  /** Aborted when nobody wants the output any more: what is not stored then is dropped. */
  readonly signal?: AbortSignal
}

/** How much of an attempt's output is stored, in bytes, the marks of a cut included. */
export type OutputSize = { readonly mixed: number; readonly stdout: number; readonly stderr: number }

export type OutputWriter = {
  /**
   * Takes bytes in the order of the calls; what they hold must not be changed afterwards. Answers a promise when the
   * caller has to wait before the next call: the database is behind, or away. Rejects when the bytes cannot be stored
   * for a reason other than a lost connection.
   */
  write(stream: OutputStream, bytes: Buffer): Promise<void> | void
  /** Resolves when all that was written is readable, but for what may be the beginning of a secret. */
  flush(): Promise<void>
  /** Stores the rest, with the end of what was cut, and returns what there is. The attempt may be ended after that. */
  close(): Promise<OutputSize>
}

export type ReadOptions = {
  readonly task: string
  /** Default: the latest attempt that has printed something. */
  readonly attempt?: number
  /** Default: mixed. */
  readonly stream?: OutputView
  /** Offset in that view. Default: 0. */
  readonly start?: number
  /** Bytes at most. Default: 64 KiB; 1 MiB is the most that is answered. */
  readonly limit?: number
}

/** Bytes of one stream, or of Millrace's own mark; `of`: the stream in which the mark is seen, too. */
export type OutputRun = {
  readonly stream: OutputStream | 'mark'
  readonly of?: OutputStream
  readonly length: number
}

export type OutputPiece = {
  /** The attempt that was read; undefined when there is no output at all. */
  readonly attempt: number | undefined
  readonly bytes: Buffer
  /** To whom the bytes belong, in order. */
  readonly runs: readonly OutputRun[]
  /** Offset after the last byte: where to go on reading. */
  readonly next: number
  /** True when nothing more is stored at present. More may come while the attempt runs. */
  readonly isEnd: boolean
}

export type FollowOptions = OutputOf & {
  readonly stream?: OutputView
  readonly start?: number
  /** Bytes of one piece at most. */
  readonly limit?: number
  /** Whether the attempt has ended, hence its writer is closed. Asked before each look at an exhausted output. */
  readonly hasEnded: () => Promise<boolean> | boolean
  /** Registers a function to call when there may be more; answers one that unregisters it. Polling finds the same. */
  readonly onNudge?: (wake: () => void) => () => void
  /** Between looks when nothing came and nobody nudged. Default: 200 ms. */
  readonly pollMs?: number
  readonly signal?: AbortSignal
}
