import type { CommandFile } from '../command.ts'
import { addFlags, flagsOf } from '../flags.ts'
import { runUntilSignal } from '../run-until-signal.ts'

/** Runs everything in one process. */
export const serve: CommandFile = {
  usage: '',
  examples: ['millrace serve', 'millrace serve --port 8080 --database-url postgresql://user@host/millrace'],
  prints: 'one',
  isServing: true,
  define(command) {
    addFlags(command, [
      'host',
      'port',
      'base_path',
      'data',
      'database_url',
      'migrate',
      'concurrency',
      'archive_concurrency',
      'node_concurrency',
      'queues',
      'default_image',
    ])
    addFlags(command, ['lease_seconds', 'grace_seconds', 'drain_seconds', 'rate_limit', 'audit_days', 'poll_seconds'])
    addFlags(command, ['log_level', 'log_format'])
  },
  async run(context, _, options: Record<string, unknown>) {
    const { output } = context
    const config = await context.config(flagsOf(options))
    await runUntilSignal(
      context,
      async (signal) => (await context.host()).serve(config, signal),
      ({ url, signInUrl }) => {
        output.one({ url }, () => [`millrace listening on ${url}`])
        if (signInUrl !== undefined) output.note(`sign in once at ${signInUrl}`)
      },
    )
  },
}
