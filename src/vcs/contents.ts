// What is learnt of many files at once: the parts that both programs share.
import { createHash } from 'node:crypto'
import type { Content, Entry } from './repository.ts'

type Facts = Pick<Content, 'size' | 'digest' | 'head'>

/** Takes the bytes of one file piece by piece, and keeps no more of them than its beginning. */
export class Intake {
  readonly #hash = createHash('sha256')
  readonly #head: Buffer[] = []
  #wanted: number
  #size = 0

  constructor(headBytes: number) {
    this.#wanted = headBytes
  }

  add(bytes: Buffer): void {
    this.#hash.update(bytes)
    this.#size += bytes.length
    if (this.#wanted === 0) return
    // A copy: the piece is part of a larger one, which would stay in memory with it.
    const kept = Buffer.from(bytes.subarray(0, this.#wanted))
    this.#head.push(kept)
    this.#wanted -= kept.length
  }

  end(): Facts {
    return { size: this.#size, digest: this.#hash.digest(), head: Buffer.concat(this.#head) }
  }
}

/** How much goes into one call of a program. */
export type Measure = {
  readonly count: number
  readonly weight: number
  readonly weigh: (entry: Entry) => number
}

/** The entries that are no folders, so many together as `measure` allows; what is too heavy goes alone. */
export async function* inChunks(
  entries: AsyncIterable<Entry> | Iterable<Entry>,
  { count, weight, weigh }: Measure,
): AsyncGenerator<Entry[], void> {
  let chunk: Entry[] = []
  let sum = 0
  for await (const entry of entries) {
    if (entry.kind === 'folder') continue
    const more = weigh(entry)
    if (chunk.length > 0 && (chunk.length >= count || sum + more > weight)) {
      yield chunk
      chunk = []
      sum = 0
    }
    chunk.push(entry)
    sum += more
  }
  if (chunk.length > 0) yield chunk
}

/** A list in pieces of at most `count`. */
export function* inPieces<T>(all: readonly T[], count: number): Generator<T[], void> {
  for (let from = 0; from < all.length; from += count) yield all.slice(from, from + count)
}
