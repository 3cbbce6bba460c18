import type { ChildProcess } from 'node:child_process'
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { constants } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { GRACE_MS } from './command.ts'
import { containerName, type Environment, writeEnvironment } from './container-arguments.ts'
import { type Answer, answerOf, type ContainerEngine, type Inspected } from './container-engine.ts'
import { initFailure, refusal } from './container-failure.ts'
import { readLog } from './container-log.ts'
import { signalName } from './ending.ts'
import { type Asked, endingAsked, Life, toLost } from './life.ts'
import type { Ending, RunnerIo, Running } from './runner.ts'
import { readStat } from './runner-id.ts'

const LOOK_MS = 100
const LOOKS_AFTER_END = 50 // podman notes the end a moment after its monitor is gone
const KEPT_STDERR = 1024

export type Watch = {
  readonly engine: ContainerEngine
  readonly marker: string
  readonly program: string
  readonly io: RunnerIo
  readonly timeoutMs: number | undefined
  readonly graceMs: number
}

export type LaunchWords = {
  /** Of `run`, without the environment. */
  readonly words: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly image: string
  readonly runnerId: string
}

/** A command in a container. The container stays until its ending was read, so that another server can take it up. */
export class ContainerCommand implements Running {
  readonly marker: string
  readonly #watch: Watch
  readonly #life: Life
  readonly #detached = new AbortController()
  #starting: ChildProcess | undefined
  #id: string | undefined
  #hasEnded = false
  #isSilent = true // nothing on stdout
  #stderr = ''

  constructor(watch: Watch) {
    this.#watch = watch
    this.marker = watch.marker
    const sink: RunnerIo['sink'] = (stream, bytes) => {
      if (stream === 'stdout') this.#isSilent = false
      else if (this.#stderr.length < KEPT_STDERR) this.#stderr += bytes.toString('latin1')
      return watch.io.sink(stream, bytes)
    }
    this.#life = new Life(sink, () => void this.stop({ graceMs: 0 }))
  }

  get ended(): Promise<Ending> {
    return this.#life.ended
  }

  stop({ graceMs = GRACE_MS } = {}): Promise<void> {
    this.#ask({ type: 'stopped' }, graceMs)
    return this.#life.gone
  }

  /** Makes and starts the container. */
  launch(launch: LaunchWords): void {
    this.#guard(this.#launch(launch))
  }

  /** Takes up a container that was started before. */
  adopt(container: Inspected): void {
    this.#guard(this.#follow(container))
  }

  /** Lets go: the container runs on. */
  detach(): void {
    this.#detached.abort()
    this.#life.finish(toLost(new Error('the server let go of the container')))
  }

  #guard(work: Promise<void>): void {
    work.catch(async (error: Error) => {
      await this.#watch.engine.remove(this.#id ?? containerName(this.marker)).catch(() => {})
      this.#life.finish(toLost(error))
    })
  }

  async #launch(launch: LaunchWords): Promise<void> {
    const { engine } = this.#watch
    const added = { MILLRACE_MARKER: this.marker, MILLRACE_RUNNER: launch.runnerId }
    const environment = await writeEnvironment({ ...launch.env, ...added }, launch.runnerId)
    const answer = await this.#run(launch.words, environment)
    await rm(environment.folder, { recursive: true, force: true })
    if (this.#detached.signal.aborted) return
    if (this.#life.asked) {
      await removeAll(engine, this.marker)
      return this.#life.finish(this.#life.asked)
    }
    const isTaken = /name .* (is )?already in use/i.test(answer.stderr)
    if (answer.code !== 0) {
      if (!isTaken) await engine.remove(containerName(this.marker))
      return this.#life.finish(refusal(launch.image, this.#watch.program, answer.stderr))
    }
    const container = await engine.inspect(answer.stdout.trim().split('\n').at(-1) ?? '')
    if (container === undefined) return this.#life.finish(toLost(new Error('the container is gone')))
    await this.#follow(container)
  }

  async #run([run = '', ...words]: readonly string[], environment: Environment): Promise<Answer> {
    const { options, script, folder } = environment
    const { engine } = this.#watch
    const args = [run, ...options, ...words]
    if (this.#life.asked) return { code: null, stdout: '', stderr: '' }
    const child =
      script === undefined
        ? engine.spawn(args, folder)
        : spawn('/bin/sh', ['-c', '. "$0"; exec "$@"', script, engine.command, ...args], {
            cwd: folder,
            stdio: ['ignore', 'pipe', 'pipe'],
          })
    this.#starting = child
    const answer = await answerOf(child)
    this.#starting = undefined
    return answer
  }

  async #follow(container: Inspected): Promise<void> {
    const { engine, timeoutMs, graceMs } = this.#watch
    this.#id = container.id
    if (this.#life.asked) await this.#signal('KILL')
    if (timeoutMs !== undefined)
      this.#life.after(timeoutMs, () => this.#ask({ type: 'timed_out', afterMs: timeoutMs }, graceMs))
    const log = readLog({
      engine,
      container,
      delivery: this.#life.delivery,
      hasEnded: () => this.#hasEnded,
      signal: this.#detached.signal,
    })
    const end = await this.#waitForEnd(container)
    this.#hasEnded = true
    if (this.#detached.signal.aborted) return
    this.#life.vanish()
    await log
    await this.#life.delivery.empty()
    // One that stays all the same is swept when its server is dead; how it ended is known, and counts.
    if (end !== undefined) await engine.remove(container.id).catch(() => {})
    this.#life.finish(this.#endingOf(end))
  }

  /** Undefined when the container was removed by somebody else. */
  async #waitForEnd(container: Inspected): Promise<Inspected | undefined> {
    const { engine } = this.#watch
    await waitForExit(engine, container, this.#detached.signal)
    for (let look = 1; !this.#detached.signal.aborted; look += 1) {
      const end = await engine.inspect(container.id)
      if (end === undefined || /^(exited|stopped|dead)$/.test(end.status)) return end
      if (look === LOOKS_AFTER_END) throw new Error(`the container's monitor is gone and it is ${end.status}`)
      await sleep(LOOK_MS)
    }
    return undefined
  }

  #endingOf(end: Inspected | undefined): Ending {
    if (this.#life.asked) return endingAsked(this.#life.asked, signaledBy(end?.exitCode))
    if (end === undefined) return toLost(new Error('the container was removed'))
    const failure = this.#isSilent ? initFailure(this.#watch.program, this.#stderr) : undefined
    if (failure !== undefined && [1, 126, 127].includes(end.exitCode)) return failure
    const isMemory = end.hasRunOutOfMemory || (end.exitCode === 137 && end.memoryLimit > 0)
    const note = isMemory ? { note: `${end.exitCode}, probably out of memory` } : {}
    return { type: 'exited', code: end.exitCode, ...note }
  }

  #ask(asked: Asked, graceMs: number): void {
    if (this.#life.isGone || this.#hasEnded) return
    this.#life.asked ??= asked
    if (this.#id === undefined) {
      this.#starting?.kill('SIGTERM')
      return
    }
    void this.#signal('TERM')
    this.#life.after(graceMs, () => void this.#signal('KILL'))
  }

  /** An engine that is away for a moment is asked again; one that says no has nothing to kill. */
  async #signal(name: 'TERM' | 'KILL'): Promise<void> {
    const { engine } = this.#watch
    do {
      const { code } = await engine.ask(['kill', '--signal', name, this.#id ?? ''])
      if (code === 0 || name === 'TERM') return
      await sleep(LOOK_MS)
    } while (!this.#life.isGone && !this.#hasEnded)
  }
}

/** An engine tells the signal that ended a container by the exit code alone, as a shell does. */
const signaledBy = (exitCode = 0): Ending =>
  exitCode === 128 + constants.signals.SIGTERM || exitCode === 128 + constants.signals.SIGKILL
    ? { type: 'signaled', signal: signalName(exitCode - 128) }
    : { type: 'exited', code: exitCode }

/** Also what is being made while it is looked for. */
async function removeAll(engine: ContainerEngine, marker: string): Promise<void> {
  for (const { id } of await engine.list(`millrace.marker=${marker}`)) await engine.remove(id)
  await engine.remove(containerName(marker))
}

/**
 * Podman's monitor lives exactly as long as the container and is gone only when the log is complete: on this host it is
 * looked at, which costs nothing. Elsewhere the command line waits.
 */
async function waitForExit(engine: ContainerEngine, container: Inspected, signal: AbortSignal): Promise<void> {
  if (!/^(created|running|paused|initialized|restarting)$/.test(container.status)) return
  const { monitorPid } = container
  const monitor = monitorPid !== undefined && isMonitor(monitorPid) ? readStat(monitorPid) : undefined
  if (monitorPid !== undefined && monitor !== undefined) {
    while (!signal.aborted && readStat(monitorPid)?.start === monitor.start) await sleep(LOOK_MS)
    return
  }
  const child = engine.spawn(['wait', container.id])
  const end = () => child.kill()
  signal.addEventListener('abort', end)
  await answerOf(child)
  signal.removeEventListener('abort', end)
}

function isMonitor(pid: number): boolean {
  try {
    return readFileSync(`/proc/${pid}/comm`, 'utf8').startsWith('conmon')
  } catch {
    return false
  }
}
