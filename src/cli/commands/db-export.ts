import { resolve } from 'node:path'
import type { CommandFile } from '../command.ts'
import { writeCopy } from '../database-copy.ts'
import { addFlags, flagsOf } from '../flags.ts'

/** Writes a copy of everything in the database into a file; servers may go on meanwhile. */
export const dbExport: CommandFile = {
  usage: 'FILE',
  examples: ['millrace db export millrace.copy.gz', 'millrace db export nightly.gz --data /var/lib/millrace --json'],
  prints: 'change',
  define: (command) =>
    void addFlags(command, ['data', 'database_url']).argument('<file>', 'file to write; an existing one is replaced'),
  async run(context, [file = ''], options: Record<string, unknown>) {
    const config = await context.config(flagsOf(options))
    const host = await context.host()
    const path = resolve(context.world.workingDirectory ?? process.cwd(), file)
    const rows = await writeCopy(path, (take) => host.exportDatabase(config, take))
    context.output.one({ file: path, rows }, () => [`wrote ${rows} rows into ${file}`])
    context.output.note(
      'the key of secrets is not in it: keep `<data>/secret-key`, or the setting secret_key, beside it',
    )
  },
}
