import type { Command } from 'commander'
import { exitCodes } from './exit.ts'
import { addFlags, configOf } from './flags.ts'
import type { LoadHost } from './host.ts'

const examples = `
Examples:
  millrace serve
  millrace serve --port 8080 --database-url postgresql://user@host/millrace`

/** `millrace serve`: everything in one process. */
export function addServe(program: Command, loadHost: LoadHost): void {
  const command = program.command('serve').description('start the server, with its database unless another is named')
  const names = ['host', 'port', 'data', 'database_url', 'migrate', 'drain_seconds', 'log_level'] as const
  addFlags(command, names)
    .addHelpText('after', examples)
    .action(async (options: Record<string, unknown>) => {
      process.exitCode = await serveUntilSignal(options, loadHost)
    })
}

async function serveUntilSignal(options: Record<string, unknown>, loadHost: LoadHost): Promise<number> {
  const { config } = await configOf(options)
  const stopped = new AbortController()
  const signal = new Promise<'signal'>((resolve) => {
    const hear = () => {
      // The second one means it: whatever still drains is cut off.
      if (stopped.signal.aborted) process.exit(exitCodes.interrupted)
      stopped.abort()
      resolve('signal')
    }
    process.on('SIGTERM', hear)
    process.on('SIGINT', hear)
  })
  try {
    const host = await loadHost()
    const running = await host.serve(config, stopped.signal)
    console.log(`millrace listening on ${running.url}`)
    if (running.signInUrl !== undefined) console.error(`sign in once at ${running.signInUrl}`)
    const end = await Promise.race([signal, running.failed])
    await running.stop()
    if (end !== 'signal') throw end
  } catch (error) {
    if (!stopped.signal.aborted) throw error
  }
  return exitCodes.done
}
