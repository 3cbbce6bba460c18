import type { CommandFile } from '../command.ts'
import { addFlags, flagsOf } from '../flags.ts'

/** Brings the schema up to date. */
export const migrateUp: CommandFile = {
  usage: '',
  examples: ['millrace migrate up', 'MILLRACE_DATABASE_URL=postgresql://user@host/millrace millrace migrate up --json'],
  prints: 'change',
  define: (command) => void addFlags(command, ['data', 'database_url']),
  async run(context, _, options: Record<string, unknown>) {
    const config = await context.config(flagsOf(options))
    const host = await context.host()
    const applied = await host.migrateUp(config)
    context.output.one({ applied }, () => [applied.length > 0 ? `applied ${applied.join(', ')}` : 'nothing to do'])
  },
}
