import { InvalidArgumentError } from 'commander'
import type { CommandFile } from '../command.ts'

/** Prints the script of an upgrade. */
export const migrateSql: CommandFile = {
  usage: '[--from VERSION]',
  examples: [
    'millrace migrate sql > upgrade.sql',
    'millrace migrate sql --from 1 | psql postgresql://user@host/millrace',
  ],
  prints: 'one',
  define: (command) => void command.option('--from <version>', 'the schema that the database has', wholeNumber, 0),
  async run(context, _, { from }: { from: number }) {
    const host = await context.host()
    const sql = await host.migrateSql(from)
    context.output.one({ from, sql }, () => [sql.trimEnd()])
  },
}

function wholeNumber(text: string): number {
  if (!/^\d+$/.test(text)) throw new InvalidArgumentError('expected a whole number')
  return Number(text)
}
