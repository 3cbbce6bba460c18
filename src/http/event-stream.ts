// One answer in the form of server-sent events. Nothing is queued here: whoever writes waits until the reader has taken
// what was written before.
import type { ServerResponse } from 'node:http'
import type { FastifyReply } from 'fastify'

export type Frame = {
  readonly id?: string | undefined
  /** Without one the browser calls it `message`. */
  readonly event?: string
  /** JSON text, hence one line. */
  readonly data?: string
  readonly retryMs?: number
}

/** The text of one event. With an id and no data nothing happens at the reader, but its place in the line moves. */
export function toFrame({ id, event, data, retryMs }: Frame): string {
  const line = (name: string, value: string | undefined) => (value === undefined ? '' : `${name}: ${value}\n`)
  return `${line('event', event)}${line('id', id)}${line('retry', retryMs?.toString())}${line('data', data)}\n`
}

const HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache, no-transform',
  // A proxy that collects answers would hold events back.
  'x-accel-buffering': 'no',
}

export class EventStream {
  readonly #raw: ServerResponse
  readonly #onClose = new Set<() => void>()
  #drained: Promise<void> | undefined
  #fullSince: number | undefined

  /** Sends the headers; what fails from here on cannot be answered as a problem any more. */
  constructor(reply: FastifyReply) {
    this.#raw = reply.raw
    reply.hijack()
    this.#raw.writeHead(200, { ...(reply.getHeaders() as Record<string, string>), ...HEADERS })
    this.#raw.flushHeaders()
    // A reader that breaks off is nothing unusual; unheard, its error would end the process.
    this.#raw.on('error', () => this.#raw.destroy())
    this.#raw.once('close', () => {
      for (const close of this.#onClose) close()
    })
  }

  get isOpen(): boolean {
    return !this.#raw.destroyed && !this.#raw.writableEnded
  }

  /** For how long the reader has not taken what it was sent. */
  get stalledMs(): number {
    return this.#fullSince === undefined ? 0 : performance.now() - this.#fullSince
  }

  /** Calls back when the reader has gone, also when it has already. */
  onClose(close: () => void): void {
    if (this.#raw.closed) close()
    else this.#onClose.add(close)
  }

  /** Resolves when there is room for more, or nobody reads any more. */
  async write(text: string): Promise<void> {
    if (!this.isOpen) return
    if (!this.#raw.write(text)) this.#drained ??= this.#untilDrained()
    await this.#drained
  }

  /** The last word, when the reader still takes words. */
  end(text: string): void {
    if (!this.isOpen) return
    if (this.stalledMs > 0) this.#raw.destroy()
    else this.#raw.end(text)
  }

  destroy(): void {
    this.#raw.destroy()
  }

  async #untilDrained(): Promise<void> {
    this.#fullSince = performance.now()
    await new Promise<void>((resolve) => {
      const done = () => {
        this.#raw.off('drain', done)
        this.#raw.off('close', done)
        resolve()
      }
      this.#raw.on('drain', done)
      this.#raw.on('close', done)
    })
    this.#drained = undefined
    this.#fullSince = undefined
  }
}
