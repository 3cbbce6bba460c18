import type { CommandFile } from '../command.ts'
import { addFlags, flagsOf } from '../flags.ts'
import { runUntilSignal } from '../run-until-signal.ts'

/** Performs tasks of a server's database, without a server of its own. */
export const workerRun: CommandFile = {
  usage: '',
  examples: [
    'millrace worker --database-url postgresql://user@host/millrace',
    'MILLRACE_DATABASE_URL_FILE=/run/secrets/database millrace worker --queues heavy --concurrency 2',
  ],
  prints: 'one',
  isServing: true,
  define(command) {
    addFlags(command, ['data', 'database_url', 'migrate', 'concurrency', 'queues', 'default_image'])
    addFlags(command, ['lease_seconds', 'grace_seconds', 'drain_seconds', 'log_level', 'log_format'])
  },
  async run(context, _, options: Record<string, unknown>) {
    const config = await context.config(flagsOf(options))
    await runUntilSignal(
      context,
      async (signal) => (await context.host()).worker(config, signal),
      ({ name, kinds }) => context.output.one({ name, kinds }, () => [`millrace worker ${name} performs tasks`]),
    )
  },
}
