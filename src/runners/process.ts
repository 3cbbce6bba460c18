import { checkCommand } from './command.ts'
import { KeeperHost } from './keeper-host.ts'
import { KeptCommand } from './kept-command.ts'
import type { CommandSpec, Runner, RunnerDescription, RunnerIo, Running, Which } from './runner.ts'
import { sweep, sweepLeftovers } from './sweep.ts'

/** Runs commands on this host, each under a keeper. */
export function createKeeperRunner(options: { readonly perl?: string } = {}): Runner {
  const host = new KeeperHost(options)
  const running = new Set<Running>()

  return {
    async start(command: CommandSpec, io: RunnerIo): Promise<Running> {
      const started = new KeptCommand(host, checkCommand(command), io)
      running.add(started)
      const forget = () => running.delete(started)
      started.ended.then(forget, forget)
      return started
    },
    sweep: (which: Which) => sweep(which),
    async sweepLeftovers(prefix) {
      await host.open() // ends what is in the control groups of dead servers, whatever it carries
      return sweepLeftovers(prefix)
    },
    async describe(): Promise<RunnerDescription> {
      const { groups } = await host.open()
      return { runner: 'process', isUsable: true, hasExactOrder: true, notes: [groups] }
    },
    async close() {
      await Promise.all([...running].map((one) => one.stop({ graceMs: 0 })))
      await host.close()
    },
  }
}
