import type { Sink, Stream } from './runner.ts'

const HIGH_BYTES = 256 * 1024
const LOW_BYTES = HIGH_BYTES / 2

type Source = { pause(): unknown; resume(): unknown }

/** Hands output to the sink, one piece after the other, and lets the source wait while the sink is behind. */
export class Delivery {
  readonly #sink: Sink
  readonly #onError: (error: unknown) => void
  readonly #queue: { stream: Stream; bytes: Buffer }[] = []
  #source: Source | undefined
  #queued = 0
  #highBytes = HIGH_BYTES
  #isPaused = false
  #isPumping = false
  #hasFailed = false
  #whenEmpty: (() => void)[] = []

  constructor(sink: Sink, onError: (error: unknown) => void) {
    this.#sink = sink
    this.#onError = onError
  }

  /** Of whom it asks to wait; undefined once that serves another. */
  from(source: Source | undefined): void {
    this.#source = source
  }

  push(stream: Stream, bytes: Buffer): void {
    if (this.#hasFailed) return
    this.#queue.push({ stream, bytes })
    this.#queued += bytes.length
    if (!this.#isPumping) void this.#pump()
    if (this.#queued > this.#highBytes && !this.#isPaused) {
      this.#isPaused = true
      this.#source?.pause()
    }
  }

  /** Takes so much more although the sink is behind: what follows is known to be little, and its end is waited for. */
  allow(bytes: number): void {
    this.#highBytes = Math.max(this.#highBytes, HIGH_BYTES + bytes)
    this.#resume()
  }

  /** Resolves when the sink has taken everything, or has thrown. */
  empty(): Promise<void> {
    if (!this.#isPumping) return Promise.resolve()
    return new Promise((resolve) => this.#whenEmpty.push(resolve))
  }

  async #pump(): Promise<void> {
    this.#isPumping = true
    try {
      for (let next = this.#queue.shift(); next !== undefined; next = this.#queue.shift()) {
        const taken = this.#sink(next.stream, next.bytes)
        if (taken !== undefined) await taken
        this.#queued -= next.bytes.length
        if (this.#queued < LOW_BYTES) this.#resume()
      }
    } catch (error) {
      this.#hasFailed = true
      this.#queue.length = 0
      this.#queued = 0
      this.#resume()
      this.#onError(error)
    }
    this.#isPumping = false
    for (const tell of this.#whenEmpty.splice(0)) tell()
  }

  #resume(): void {
    if (!this.#isPaused || this.#queued > this.#highBytes) return
    this.#isPaused = false
    this.#source?.resume()
  }
}
