import { setTimeout as sleep } from 'node:timers/promises'
import { checkCommand, GRACE_MS } from './command.ts'
import { type Launch, MARKER_LABEL, RUNNER_LABEL } from './container-arguments.ts'
import { ContainerCommand, type Watch } from './container-command.ts'
import { ContainerEngine, type Inspected } from './container-engine.ts'
import { type AdoptingRunner, InvalidCommand, type Running, type Which } from './runner.ts'
import { isRunnerAlive, newRunnerId } from './runner-id.ts'

const CLOSE_MS = 2_000

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
  const runnerId = newRunnerId()
  const running = new Set<ContainerCommand>()
  let found: Promise<ContainerEngine> | undefined
  const engine = (): Promise<ContainerEngine> => {
    found ??= findEngine(options.engine).catch((error: unknown) => {
      found = undefined
      throw error
    })
    return found
  }
  const watch = (of: Watch): ContainerCommand => {
    const command = new ContainerCommand(of)
    running.add(command)
    const forget = () => running.delete(command)
    command.ended.then(forget, forget)
    return command
  }
  const end = async (isMeant: (container: Inspected) => boolean): Promise<number> => {
    const meant = (await (await engine()).list(MARKER_LABEL)).filter(isMeant)
    for (const { id } of meant) await (await engine()).remove(id)
    return meant.length
  }
  const markerOf = ({ labels }: Inspected): string => labels[MARKER_LABEL] ?? ''

  return {
    async start(spec, io) {
      const command = checkCommand(spec)
      const { container } = spec
      if (container === undefined) throw new InvalidCommand('container names no image')
      if (!/^[\w.:@/-]+$/.test(container.image) || container.image.startsWith('-'))
        throw new InvalidCommand(`container.image "${container.image}" is no image's name`)
      const { marker, timeoutMs, graceMs } = command
      const [used, missing] = await engine().then(
        (one) => [one, undefined] as const,
        (error: unknown) => [undefined, error as Error] as const,
      )
      if (used === undefined) return neverRan(marker, missing.message)
      const launch: Launch = { engine: used, command, container, runnerId }
      const started = watch({ engine: used, marker, program: command.argv[0] ?? '', io, timeoutMs, graceMs })
      started.launch(launch)
      return started
    },
    async adopt(marker, { timeoutMs, ...io }) {
      const [container, ...others] = await (await engine()).list(`${MARKER_LABEL}=${marker}`)
      if (container === undefined) return undefined
      if (others.length > 0 || container.status === 'created') {
        // Made and not started when its server died: nothing ran.
        await end((one) => markerOf(one) === marker)
        return undefined
      }
      const adopted = watch({ engine: await engine(), marker, program: '', io, timeoutMs, graceMs: GRACE_MS })
      adopted.adopt(container)
      return adopted
    },
    sweep: (which: Which) =>
      end((one) => ('marker' in which ? markerOf(one) === which.marker : markerOf(one).startsWith(which.prefix))),
    sweepLeftovers: (prefix) =>
      end((one) => markerOf(one).startsWith(prefix) && !isRunnerAlive(one.labels[RUNNER_LABEL] ?? '')),
    async describe() {
      try {
        const { command } = await engine()
        const notes = [`by ${command}`, 'order is exact within stdout and within stderr, and approximate across them']
        return { runner: 'container', isUsable: true, hasExactOrder: false, notes }
      } catch (error) {
        return { runner: 'container', isUsable: false, hasExactOrder: false, notes: [(error as Error).message] }
      }
    },
    async close() {
      const all = [...running]
      await Promise.all(all.map((one) => one.stop({ graceMs: 0 })))
      // A sink that is stuck must not keep the containers.
      await Promise.race([Promise.allSettled(all.map((one) => one.ended)), sleep(CLOSE_MS)])
      if (running.size > 0) await end((one) => one.labels[RUNNER_LABEL] === runnerId)
    },
    async detach() {
      for (const one of running) one.detach()
    },
  }
}

function neverRan(marker: string, reason: string): Running {
  return { marker, ended: Promise.resolve({ type: 'spawn_failed', reason }), stop: async () => {} }
}

async function findEngine(wanted: string | undefined): Promise<ContainerEngine> {
  const names = wanted === undefined ? ['podman', 'docker'] : [wanted]
  const said: string[] = []
  for (const name of names) {
    const { code, stderr } = await new ContainerEngine(name).ask(['version'])
    if (code === 0) return new ContainerEngine(name)
    said.push(`${name}: ${stderr.trim().split('\n').at(-1)}`)
  }
  throw new EngineMissing(`no container engine answers (${said.join('; ')})`)
}
