import type { CommandFile } from '../command.ts'
import { addFlags, flagsOf } from '../flags.ts'

/** Prints the URL of the database, with its password where it has one: it is for programs. */
export const dbUrl: CommandFile = {
  usage: '',
  examples: ['millrace db url', 'psql "$(millrace db url --data /var/lib/millrace)"'],
  prints: 'one',
  define: (command) => void addFlags(command, ['data', 'database_url']),
  async run(context, _, options: Record<string, unknown>) {
    const config = await context.config(flagsOf(options))
    const host = await context.host()
    const url = await host.besideDatabase(config, async (databaseUrl) => databaseUrl)
    context.output.one({ url, embedded: config.database_url === undefined }, () => [url])
    if (config.database_url === undefined) context.output.note('the embedded database; it answers while a server runs')
  },
}
