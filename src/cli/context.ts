import type { routes as apiRoutes, Client } from '../api/index.ts'
import type { Config, ConfigSources, Connection } from '../config/index.ts'
import type { Prints } from './command.ts'
import { UsageError } from './exit.ts'
import type { Host, Loaders, WorkflowTools } from './host.ts'
import { createOutput, type Output } from './output.ts'
import type { Interrupted, Left, World } from './world.ts'

/** What every command may be given, before its own options. */
export type GlobalOptions = {
  readonly server?: string
  readonly tokenFile?: string
  readonly color?: string
  readonly debug?: boolean
  readonly json?: boolean
  readonly jsonFields?: string
  readonly ndjson?: boolean
  readonly plain?: boolean
  readonly quiet?: boolean
}

export type Server = {
  readonly client: Client
  readonly routes: typeof apiRoutes
  readonly connection: Connection
}

/** What a command works with. */
export type Context = {
  readonly world: World
  readonly output: Output
  /** Aborts when the person wants the command to end. Whoever waits for long takes it. */
  readonly signal: AbortSignal
  /** Ends the command as a signal does, where the terminal does not make one of Ctrl-C. */
  readonly interrupt: (why: Interrupted | Left) => void
  /** The server that was asked for. It is not spoken to yet. */
  readonly server: () => Promise<Server>
  /** The program that runs Millrace in this process. */
  readonly host: () => Promise<Host>
  /** What can be done with workflow files in this process. */
  readonly workflowTools: () => Promise<WorkflowTools>
  /** The settings, with what these flags said. */
  readonly config: (flags?: ConfigSources['flags']) => Promise<Config>
  /** Where settings come from, for what reads them otherwise. */
  readonly sources: (flags?: ConfigSources['flags']) => ConfigSources
  /** Why the command is to end; undefined while it is not. */
  readonly endedBy: () => Interrupted | Left | undefined
  /** Lets go of what it took from the process. */
  readonly end: () => void
}

export type ContextOptions = {
  readonly world: World
  readonly loaders: Loaders
  readonly options: GlobalOptions
  readonly prints: Prints
}

export function createContext({ world, loaders, options, prints }: ContextOptions): Context {
  const { color = 'auto' } = options
  if (color !== 'auto' && color !== 'always' && color !== 'never') {
    throw new UsageError(`--color is ${color}`, 'use auto, always or never')
  }
  const interruption = createInterruption(world)
  const sources: Context['sources'] = (flags = {}) => ({
    flags: { url: options.server, token: options.tokenFile, ...flags },
    ...(world.environment && { environment: world.environment }),
    ...(world.workingDirectory && { workingDirectory: world.workingDirectory }),
  })
  return {
    world,
    output: createOutput(world, { ...options, color, prints }),
    get signal() {
      return interruption.signal()
    },
    interrupt: (why) => interruption.abort(why),
    async server() {
      const [{ createClient, routes }, { findConnection }] = await Promise.all([
        import('../api/index.ts'),
        import('../config/index.ts'),
      ])
      const connection = await findConnection(sources())
      const { url, token } = connection
      return { client: createClient({ url, ...(token === undefined ? {} : { token }) }), routes, connection }
    },
    host: loaders.host,
    workflowTools: loaders.workflowTools,
    async config(flags) {
      const { readConfig } = await import('../config/index.ts')
      return (await readConfig(sources(flags))).config
    },
    sources,
    endedBy: () => interruption.reason(),
    end: () => interruption.end(),
  }
}

/** Listens for signals from the first time that somebody asks; the second one ends the process at once. */
function createInterruption(world: World) {
  const controller = new AbortController()
  let undo: (() => void) | undefined
  const abort = (why: Interrupted | Left) => {
    // Without a listener the next signal ends the process, whatever still waits.
    undo?.()
    controller.abort(why)
  }
  return {
    abort,
    signal(): AbortSignal {
      undo ??= world.onInterrupt(abort)
      return controller.signal
    },
    reason: () => (controller.signal.aborted ? (controller.signal.reason as Interrupted | Left) : undefined),
    end: () => undo?.(),
  }
}
