import { checkCommand } from './command.ts'
import { KeeperHost, KeeperUnavailable } from './keeper-host.ts'
import { KeptCommand } from './kept-command.ts'
import { neverRan } from './life.ts'
import { createPlainRunner } from './plain.ts'
import type { CommandSpec, Runner, RunnerDescription, RunnerIo, Running } from './runner.ts'
import { sweep, sweepLeftovers } from './sweep.ts'

export type ProcessRunnerOptions = {
  /** Program to run the keeper with. Default: perl, where it usually is. */
  readonly perl?: string
}

/**
 * Runs commands on this host: under a keeper where there are Linux and Perl, otherwise plainly. Which it is shows with
 * the first command, or when asked to describe itself.
 */
export function createProcessRunner(options: ProcessRunnerOptions = {}): Runner {
  let chosen: Promise<Runner> | undefined
  let isClosed = false

  const choose = async (): Promise<Runner> => {
    const host = new KeeperHost(options)
    try {
      await host.open()
      return createKeeperRunner(host)
    } catch (error) {
      await host.close()
      if (!(error instanceof KeeperUnavailable && error.isFinal)) throw error
      return createPlainRunner({ why: `no keeper: ${error.message}` })
    }
  }
  const runner = (): Promise<Runner> => {
    chosen ??= choose().catch((error: unknown) => {
      chosen = undefined
      throw error
    })
    return chosen
  }

  return {
    async start(command, io) {
      const { marker } = checkCommand(command)
      if (isClosed) throw new Error('the runner is closed')
      const found = await runner().catch((error: Error) => error)
      // For this once, as when there are too many processes: the next command may find one.
      return found instanceof Error ? neverRan(marker, found.message) : found.start(command, io)
    },
    sweep,
    sweepLeftovers: async (prefix) => (await runner()).sweepLeftovers(prefix),
    describe: async () => (await runner()).describe(),
    async close() {
      isClosed = true
      const found = await chosen?.catch(() => undefined)
      await found?.close()
    },
  }
}

function createKeeperRunner(host: KeeperHost): Runner {
  const running = new Set<Running>()
  return {
    async start(command: CommandSpec, io: RunnerIo): Promise<Running> {
      const started = new KeptCommand(host, checkCommand(command), io)
      running.add(started)
      const forget = () => running.delete(started)
      started.ended.then(forget, forget)
      return started
    },
    sweep,
    async sweepLeftovers(prefix) {
      await host.open() // a new spawner ends what is in the control groups of dead servers, whatever it carries
      return sweepLeftovers(prefix)
    },
    async describe(): Promise<RunnerDescription> {
      const { groups } = await host.open()
      const killing = groups === '' ? 'without control groups' : `with control groups in ${groups}`
      return { runner: 'process', isUsable: true, hasExactOrder: true, notes: [`under keepers, ${killing}`] }
    },
    async close() {
      await Promise.all([...running].map((one) => one.stop({ graceMs: 0 })))
      await host.close()
    },
  }
}
