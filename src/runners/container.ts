import { setTimeout as sleep } from 'node:timers/promises'
import { checkCommand, GRACE_MS } from './command.ts'
import { adoptedName, MARKER_LABEL, ownerOf, runArguments } from './container-arguments.ts'
import { ContainerCommand, type Watch } from './container-command.ts'
import { ContainerEngine, type Inspected } from './container-engine.ts'
import { neverRan } from './life.ts'
import {
  type AdoptingRunner,
  type CommandSpec,
  InvalidCommand,
  type RunnerDescription,
  type RunnerIo,
  type Running,
  type Which,
} from './runner.ts'
import { isRunnerAlive, newRunnerId } from './runner-id.ts'

const CLOSE_MS = 2_000
const IMAGE = /^[\w][\w.:@/-]*$/

export type ContainerRunnerOptions = {
  /** The command line to use, by name or path. Default: podman, or else docker, whichever is there. */
  readonly engine?: string
}

/** There is neither podman nor docker, or the one that was named does not answer. */
export class EngineMissing extends Error {
  readonly code = 'engine_missing'
  readonly remedy = 'install podman or docker, or name the engine in the settings'
}

/**
 * Runs commands in containers. They outlive the server: the next one adopts them. The order of output is exact within
 * stdout and within stderr, and across them as the engine saw it.
 */
export function createContainerRunner(options: ContainerRunnerOptions = {}): AdoptingRunner {
  return new ContainerRunner(options.engine)
}

class ContainerRunner implements AdoptingRunner {
  /** The engines to look for, by name or path. */
  readonly #names: readonly [string, ...string[]]
  readonly #runnerId = newRunnerId()
  readonly #running = new Set<ContainerCommand>()
  #engine: ContainerEngine | undefined

  constructor(wanted: string | undefined) {
    this.#names = wanted === undefined ? ['podman', 'docker'] : [wanted]
  }

  async start(spec: CommandSpec, io: RunnerIo): Promise<Running> {
    const command = checkCommand(spec)
    const { container } = spec
    if (container === undefined) throw new InvalidCommand('container names no image')
    if (!IMAGE.test(container.image))
      throw new InvalidCommand(`container.image "${container.image}" is no image's name`)
    const { marker, timeoutMs, graceMs } = command
    try {
      const engine = await this.#find()
      const runnerId = this.#runnerId
      const words = runArguments({ engine, command, container, runnerId })
      const started = this.#watch({ engine, marker, program: command.argv[0] ?? '', io, timeoutMs, graceMs })
      started.launch({ words, env: command.env, image: container.image, runnerId })
      return started
    } catch (error) {
      if (!(error instanceof EngineMissing)) throw error
      return neverRan(marker, error.message)
    }
  }

  async adopt(marker: string, { timeoutMs, sink }: RunnerIo & { timeoutMs?: number }): Promise<Running | undefined> {
    const { engine, containers } = await this.#list(`${MARKER_LABEL}=${marker}`)
    const [container] = containers
    if (container === undefined) return undefined
    if (container.status === 'created') {
      await engine.remove(container.id) // made and not started when its server died: nothing ran
      return undefined
    }
    await engine.expect(['rename', container.id, adoptedName(marker, this.#runnerId)])
    const adopted = this.#watch({ engine, marker, program: '', io: { sink }, timeoutMs, graceMs: GRACE_MS })
    adopted.adopt(container)
    return adopted
  }

  sweep(which: Which): Promise<number> {
    return this.#end((marker) => ('marker' in which ? marker === which.marker : marker.startsWith(which.prefix)))
  }

  sweepLeftovers(prefix: string): Promise<number> {
    return this.#end((marker, runnerId) => marker.startsWith(prefix) && !isRunnerAlive(runnerId))
  }

  async leftovers(prefix: string): Promise<string[]> {
    const { containers } = await this.#list(MARKER_LABEL)
    return containers
      .filter((one) => !isRunnerAlive(ownerOf(one)))
      .map(({ labels }) => labels[MARKER_LABEL] ?? '')
      .filter((marker) => marker.startsWith(prefix))
  }

  async describe(): Promise<RunnerDescription> {
    const said = { runner: 'container', hasExactOrder: false }
    try {
      const { command } = await this.#find()
      const order = 'order is exact within stdout and within stderr, and approximate across them'
      return { ...said, isUsable: true, notes: [`by ${command}`, order] }
    } catch (error) {
      return { ...said, isUsable: false, notes: [(error as Error).message] }
    }
  }

  async close(): Promise<void> {
    const all = [...this.#running]
    await Promise.all(all.map((one) => one.stop({ graceMs: 0 })))
    // A sink that is stuck must not keep the containers.
    await Promise.race([Promise.allSettled(all.map((one) => one.ended)), sleep(CLOSE_MS)])
    if (this.#running.size > 0) await this.#end((_marker, runnerId) => runnerId === this.#runnerId)
  }

  async detach(): Promise<void> {
    for (const one of this.#running) one.detach()
  }

  #watch(of: Watch): ContainerCommand {
    const command = new ContainerCommand(of)
    this.#running.add(command)
    const forget = () => this.#running.delete(command)
    command.ended.then(forget, forget)
    return command
  }

  async #end(isMeant: (marker: string, runnerId: string) => boolean): Promise<number> {
    const { engine, containers } = await this.#list(MARKER_LABEL)
    const meant = containers.filter((one) => isMeant(one.labels[MARKER_LABEL] ?? '', ownerOf(one)))
    for (const { id } of meant) await engine.remove(id)
    return meant.length
  }

  /** Containers that carry the label. Every server begins with a list: an engine that gives it is not looked for first. */
  async #list(label: string): Promise<{ engine: ContainerEngine; containers: Inspected[] }> {
    if (this.#engine === undefined) {
      const engine = new ContainerEngine(this.#names[0])
      const containers = await engine.list(label).catch(() => undefined)
      if (containers !== undefined) {
        this.#engine = engine
        return { engine, containers }
      }
    }
    const engine = await this.#find()
    return { engine, containers: await engine.list(label) }
  }

  /** Looked for until one is found: it may be installed while the server runs. */
  async #find(): Promise<ContainerEngine> {
    if (this.#engine !== undefined) return this.#engine
    const said: string[] = []
    for (const name of this.#names) {
      const engine = new ContainerEngine(name)
      const { code, stderr } = await engine.ask(['version'])
      if (code === 0) {
        this.#engine = engine
        return engine
      }
      said.push(`${name}: ${stderr.trim().split('\n').at(-1)}`)
    }
    throw new EngineMissing(`no container engine answers (${said.join('; ')})`)
  }
}
