import { resolve } from 'node:path'
import type { CommandFile } from '../command.ts'
import { readCopy } from '../database-copy.ts'
import { addFlags, flagsOf } from '../flags.ts'

/** Reads a copy into a database that holds nothing yet: all of it or nothing. */
export const dbImport: CommandFile = {
  usage: 'FILE',
  examples: [
    'millrace db import millrace.copy.gz',
    'MILLRACE_DATABASE_URL_FILE=url.txt millrace db import millrace.copy.gz --json',
  ],
  prints: 'change',
  define: (command) =>
    void addFlags(command, ['data', 'database_url']).argument('<file>', 'file that `millrace db export` wrote'),
  async run(context, [file = ''], options: Record<string, unknown>) {
    const config = await context.config(flagsOf(options))
    const host = await context.host()
    const rows = await host.importDatabase(
      config,
      readCopy(resolve(context.world.workingDirectory ?? process.cwd(), file)),
    )
    context.output.one({ rows }, () => [`read ${rows} rows`])
  },
}
