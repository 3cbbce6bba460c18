import type { CommandFile } from '../command.ts'
import { addFlags, flagsOf } from '../flags.ts'

/** Compares the schema with the one of this release. */
export const migrateStatus: CommandFile = {
  usage: '',
  examples: [
    'millrace migrate status',
    'millrace migrate status --json --database-url postgresql://user@host/millrace',
  ],
  prints: 'one',
  define: (command) => void addFlags(command, ['data', 'database_url']),
  async run(context, _, options: Record<string, unknown>) {
    const config = await context.config(flagsOf(options))
    const host = await context.host()
    const { version, known, pending, functionsCurrent } = await host.migrateStatus(config)
    context.output.one({ version, known, pending, functions_current: functionsCurrent }, () => [
      `schema ${version}, this release ${known}`,
      ...pending.map((name) => `pending ${name}`),
      ...(functionsCurrent ? [] : ['pending functions']),
    ])
  },
}
