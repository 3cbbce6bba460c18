import type { Socket } from 'node:net'
import { type CheckedCommand, GRACE_MS } from './command.ts'
import { endingOf, spawnFailure } from './ending.ts'
import { encodeCommand, encodeStop, type Frame } from './frames.ts'
import { type Keeper, type KeeperHost, KeeperNotForked } from './keeper-host.ts'
import { type Asked, endingAsked, Life, toLost } from './life.ts'
import type { Ending, RunnerIo, Running } from './runner.ts'
import { killGroup, sweep } from './sweep.ts'

// Read although the sink is behind, so that the end is heard of: what a stopped command may still say, and, once the
// grace is over, what lies in the keeper and the socket.
const LAST_BYTES = 4 * 1024 * 1024
const AFTER_GRACE_MS = 1_000

/** A command under a keeper. */
export class KeptCommand implements Running {
  readonly marker: string
  readonly #host: KeeperHost
  readonly #command: CheckedCommand
  readonly #life: Life
  #socket: Socket | undefined
  #letGo = () => {}

  constructor(host: KeeperHost, command: CheckedCommand, io: RunnerIo) {
    this.#host = host
    this.#command = command
    this.marker = command.marker
    this.#life = new Life(io.sink, () => void this.stop({ graceMs: 0 }))
    void this.#begin()
  }

  get ended(): Promise<Ending> {
    return this.#life.ended
  }

  stop({ graceMs = GRACE_MS } = {}): Promise<void> {
    this.#ask({ type: 'stopped' }, graceMs)
    return this.#life.gone
  }

  async #begin(): Promise<void> {
    try {
      const keeper = await this.#host.request()
      if (this.#life.isGone) return this.#host.release(keeper) // asked to stop before it began
      this.#listen(keeper)
      const added = { MILLRACE_MARKER: this.marker, MILLRACE_RUNNER: this.#host.runnerId }
      keeper.socket.write(encodeCommand(this.#command, added))
      const { timeoutMs, graceMs } = this.#command
      if (timeoutMs !== undefined)
        this.#life.after(timeoutMs, () => this.#ask({ type: 'timed_out', afterMs: timeoutMs }, graceMs))
    } catch (error) {
      if (error instanceof KeeperNotForked) this.#finish(spawnFailure(this.#command, 'fork', error.errno))
      else this.#finish({ type: 'spawn_failed', reason: (error as Error).message })
    }
  }

  #listen(keeper: Keeper): void {
    const { socket, frames } = keeper
    const hear = (chunk: Buffer) => {
      try {
        for (const frame of frames.read(chunk)) this.#hear(frame)
      } catch {
        socket.destroy()
      }
    }
    const lose = () => void this.#lose(keeper.id)
    const ignore = () => {} // `close` follows
    this.#socket = socket
    this.#life.delivery.from(socket)
    socket.on('data', hear).on('close', lose).on('error', ignore)
    this.#letGo = () => {
      socket.removeListener('data', hear).removeListener('close', lose).removeListener('error', ignore)
      this.#life.delivery.from(undefined)
      this.#host.release(keeper)
    }
  }

  #hear(frame: Frame): void {
    if (frame.type === 'output') this.#life.delivery.push(frame.stream, frame.bytes)
    else if (frame.type === 'F') {
      const stage = frame.payload.toString('latin1', 4)
      this.#finish(spawnFailure(this.#command, stage, frame.payload.readUInt32BE(0)))
    } else if (frame.type === 'X') {
      const wasStopped = frame.payload.readUInt8(4) === 1
      const ending = endingOf(frame.payload.readUInt32BE(0), frame.payload.readUInt8(5) > 0)
      this.#finish(wasStopped ? endingAsked(this.#life.asked, ending) : ending)
    }
  }

  #ask(asked: Asked, graceMs: number): void {
    if (this.#life.isGone) return
    this.#life.asked ??= asked
    if (this.#socket === undefined) {
      this.#finish(asked)
      return
    }
    this.#socket.write(encodeStop(graceMs))
    this.#life.delivery.allow(LAST_BYTES)
    this.#life.after(graceMs + AFTER_GRACE_MS, () => this.#life.delivery.allow(Number.POSITIVE_INFINITY))
  }

  /** The keeper went without saying how its command ended: it was killed. What it kept must not stay. */
  async #lose(id: number): Promise<void> {
    if (this.#life.isGone) return
    const group = await this.#host.groupOf(id)
    if (group !== undefined) killGroup(group)
    const lost = new Error('the process that watched the command was killed')
    const problem = await sweep({ marker: this.marker }).then(() => undefined, toLost)
    this.#finish(problem ?? this.#life.asked ?? toLost(lost))
  }

  #finish(ending: Ending): void {
    if (!this.#life.isGone) this.#letGo()
    this.#life.finish(ending)
  }
}
