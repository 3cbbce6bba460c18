import type { CommandFile } from '../command.ts'
import { createLinePipe } from '../database-copy.ts'
import { UsageError } from '../exit.ts'
import { addFlags, flagsOf } from '../flags.ts'
import { readSecret } from '../prompt.ts'

/** Copies everything into another, empty database, whose URL comes from standard input: it may hold a password. */
export const dbMove: CommandFile = {
  usage: '',
  examples: ['millrace db move < new-url.txt', 'millrace db move --data /var/lib/millrace --json < new-url.txt'],
  prints: 'change',
  define: (command) => void addFlags(command, ['data', 'database_url']),
  async run(context, _, options: Record<string, unknown>) {
    const flags = flagsOf(options)
    const config = await context.config(flags)
    const target = await readSecret(context, 'URL of the new database: ')
    if (target === '') throw new UsageError('say where everything is to go', 'pipe the URL of an empty database in')
    const there = await context.config({ ...flags, database_url: target })
    const host = await context.host()
    const pipe = createLinePipe()
    const leaving = host.exportDatabase(config, pipe.take).then(pipe.end, pipe.fail)
    const rows = await host.importDatabase(there, pipe.lines).catch(async (error: Error) => {
      pipe.fail(error)
      await leaving
      throw error
    })
    await leaving
    context.output.one({ rows }, () => [`moved ${rows} rows; what happens here from now on is not there`])
    context.output.note('start servers and workers with the new URL, and with the same secret_key')
  },
}
