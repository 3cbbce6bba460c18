import type { OutputStream } from './output.ts'

const streams = ['stdout', 'stderr'] as const

/** The last bytes of what is pushed, in memory that does not grow: the bytes in a ring, and beside each whose it is. */
export class Tail {
  readonly #size: number
  readonly #pushed = { stdout: 0, stderr: 0 }
  #bytes: Buffer | undefined
  #owners: Buffer | undefined

  constructor(size: number) {
    this.#size = size
  }

  get #total(): number {
    return this.#pushed.stdout + this.#pushed.stderr
  }

  /** Something of what was pushed is no longer held. */
  get isCut(): boolean {
    return this.#total > this.#size
  }

  push(stream: OutputStream, bytes: Buffer): void {
    if (bytes.length === 0) return
    // Most commands print too little to come here.
    this.#bytes ??= Buffer.allocUnsafeSlow(this.#size)
    this.#owners ??= Buffer.allocUnsafeSlow(this.#size)
    const held = bytes.subarray(Math.max(0, bytes.length - this.#size))
    const at = (this.#total + bytes.length - held.length) % this.#size
    const before = held.subarray(0, this.#size - at)
    const owner = streams.indexOf(stream)
    before.copy(this.#bytes, at)
    this.#owners.fill(owner, at, at + before.length)
    held.copy(this.#bytes, 0, before.length)
    this.#owners.fill(owner, 0, held.length - before.length)
    this.#pushed[stream] += bytes.length
  }

  /** How much of each stream was pushed and is no longer held. */
  missing(): Record<OutputStream, number> {
    const missing = { ...this.#pushed }
    for (const { stream, bytes } of this.runs()) missing[stream] -= bytes.length
    return missing
  }

  /** What is held, in the order in which it was pushed. The bytes are those of the ring: nothing may be pushed any more. */
  *runs(): Generator<{ readonly stream: OutputStream; readonly bytes: Buffer }, void, undefined> {
    if (this.#bytes === undefined || this.#owners === undefined) return
    const first = this.isCut ? this.#total % this.#size : 0
    const ranges = this.isCut ? [[first, this.#size] as const, [0, first] as const] : [[0, this.#total] as const]
    for (const [from, to] of ranges) {
      const owners = this.#owners.subarray(from, to)
      for (let at = 0; at < owners.length; ) {
        const owner = owners[at] === 0 ? 0 : 1
        const other = owners.indexOf(1 - owner, at)
        const end = other < 0 ? owners.length : other
        yield { stream: streams[owner], bytes: this.#bytes.subarray(from + at, from + end) }
        at = end
      }
    }
  }
}
