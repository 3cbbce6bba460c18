import type { Socket } from 'node:net'
import { type CheckedCommand, GRACE_MS } from './command.ts'
import { after, deferred } from './deferred.ts'
import { Delivery } from './delivery.ts'
import { endingOf, spawnFailure } from './ending.ts'
import { encodeCommand, encodeStop, type Frame, type FrameReader } from './frames.ts'
import { type KeeperHost, KeeperNotForked } from './keeper-host.ts'
import type { Ending, RunnerIo, Running } from './runner.ts'
import { killGroup, sweep } from './sweep.ts'

// Read although the sink is behind, so that the end is heard of: what a stopped command may still say, and, once the
// grace is over, what lies in the keeper and the socket.
const LAST_BYTES = 4 * 1024 * 1024
const AFTER_GRACE_MS = 1_000

/** A command under a keeper. */
export class KeptCommand implements Running {
  readonly marker: string
  readonly ended: Promise<Ending>
  readonly #host: KeeperHost
  readonly #command: CheckedCommand
  readonly #delivery: Delivery
  readonly #ending = deferred<Ending>()
  readonly #gone = deferred()
  readonly #timers: (() => void)[] = []
  #socket: Socket | undefined
  #why: Extract<Ending, { type: 'timed_out' | 'stopped' }> | undefined
  #isGone = false
  #sinkError: unknown

  constructor(host: KeeperHost, command: CheckedCommand, io: RunnerIo) {
    this.#host = host
    this.#command = command
    this.marker = command.marker
    this.ended = this.#ending.promise
    this.#delivery = new Delivery(io.sink, (error) => {
      this.#sinkError = { error }
      void this.stop({ graceMs: 0 })
    })
    void this.#begin()
  }

  stop({ graceMs = GRACE_MS } = {}): Promise<void> {
    this.#ask({ type: 'stopped' }, graceMs)
    return this.#gone.promise
  }

  async #begin(): Promise<void> {
    try {
      const { id, socket, frames } = await this.#host.request()
      // Asked to stop before it began: the keeper goes without having had a command.
      if (this.#isGone) return void socket.destroy()
      this.#listen(id, socket, frames)
      const added = { MILLRACE_MARKER: this.marker, MILLRACE_RUNNER: this.#host.runnerId }
      socket.write(encodeCommand(this.#command, added))
      const { timeoutMs } = this.#command
      if (timeoutMs !== undefined) this.#timeOut(timeoutMs)
    } catch (error) {
      const errno = error instanceof KeeperNotForked ? error.errno : 0
      const failure = spawnFailure(this.#command, 'keeper', errno)
      this.#finish(errno > 0 ? failure : { type: 'spawn_failed', reason: (error as Error).message })
    }
  }

  #timeOut(timeoutMs: number): void {
    const ask = () => this.#ask({ type: 'timed_out', afterMs: timeoutMs }, this.#command.graceMs)
    this.#timers.push(after(timeoutMs, ask))
  }

  #listen(id: number, socket: Socket, frames: FrameReader): void {
    this.#socket = socket
    this.#delivery.from(socket)
    socket.on('data', (chunk: Buffer) => {
      try {
        for (const frame of frames.read(chunk)) this.#hear(frame)
      } catch {
        socket.destroy()
      }
    })
    socket.on('error', () => {}) // `close` follows
    socket.on('close', () => void this.#lose(id))
  }

  #hear(frame: Frame): void {
    if (frame.type === 'output') this.#delivery.push(frame.stream, frame.bytes)
    else if (frame.type === 'F') {
      const stage = frame.payload.toString('latin1', 4)
      this.#finish(spawnFailure(this.#command, stage, frame.payload.readUInt32BE(0)))
    } else if (frame.type === 'X') {
      const wasStopped = frame.payload.readUInt8(4) === 1
      const ending = endingOf(frame.payload.readUInt32BE(0), frame.payload.readUInt8(5) > 0)
      this.#finish(wasStopped ? (this.#why ?? ending) : ending)
    }
  }

  #ask(why: Extract<Ending, { type: 'timed_out' | 'stopped' }>, graceMs: number): void {
    if (this.#isGone) return
    this.#why ??= why
    if (this.#socket === undefined) return this.#finish(why)
    this.#socket.write(encodeStop(graceMs))
    this.#delivery.allow(LAST_BYTES)
    this.#timers.push(after(graceMs + AFTER_GRACE_MS, () => this.#delivery.allow(Number.POSITIVE_INFINITY)))
  }

  /** The keeper went without saying how its command ended: it was killed. What it kept must not stay. */
  async #lose(id: number): Promise<void> {
    if (this.#isGone) return
    const group = await this.#host.groupOf(id)
    if (group !== undefined) killGroup(group)
    await sweep({ marker: this.marker })
    this.#finish(this.#why ?? { type: 'lost', reason: 'the process that watched the command was killed' })
  }

  #finish(ending: Ending): void {
    if (this.#isGone) return
    this.#isGone = true
    for (const takeBack of this.#timers) takeBack()
    this.#gone.resolve()
    void this.#delivery.empty().then(() => {
      if (this.#sinkError === undefined) this.#ending.resolve(ending)
      else this.#ending.reject((this.#sinkError as { error: unknown }).error)
    })
  }
}
