import { type Command, InvalidArgumentError } from 'commander'
import { addFlags, configOf } from './flags.ts'
import type { LoadHost } from './host.ts'

const examples = {
  up: `
Examples:
  millrace migrate up
  MILLRACE_DATABASE_URL=postgresql://user@host/millrace millrace migrate up --json`,
  status: `
Examples:
  millrace migrate status
  millrace migrate status --json --database-url postgresql://user@host/millrace`,
  sql: `
Examples:
  millrace migrate sql > upgrade.sql
  millrace migrate sql --from 1 | psql postgresql://user@host/millrace`,
}

type Options = Record<string, unknown> & { json?: boolean }

/** `millrace migrate up|status|sql`: the database's schema. */
export function addMigrate(program: Command, loadHost: LoadHost): void {
  const migrate = program.command('migrate').description("the database's schema")
  addFlags(migrate.command('up').description('bring the schema up to date'), ['data', 'database_url'])
    .option('--json', 'print JSON')
    .addHelpText('after', examples.up)
    .action((options: Options) => up(options, loadHost))
  addFlags(migrate.command('status').description('compare the schema with this release'), ['data', 'database_url'])
    .option('--json', 'print JSON')
    .addHelpText('after', examples.status)
    .action((options: Options) => status(options, loadHost))
  migrate
    .command('sql')
    .description('print the script of an upgrade, without a database')
    .option('--from <version>', 'the schema that the database has', wholeNumber, 0)
    .addHelpText('after', examples.sql)
    .action(async (options: { from: number }) => {
      const host = await loadHost()
      process.stdout.write(await host.migrateSql(options.from))
    })
}

async function up(options: Options, loadHost: LoadHost): Promise<void> {
  const { config } = await configOf(options)
  const host = await loadHost()
  const applied = await host.migrateUp(config)
  if (options.json) console.log(JSON.stringify({ applied }))
  else console.log(applied.length > 0 ? `applied ${applied.join(', ')}` : 'nothing to do')
}

async function status(options: Options, loadHost: LoadHost): Promise<void> {
  const { config } = await configOf(options)
  const host = await loadHost()
  const { version, known, pending, functionsCurrent } = await host.migrateStatus(config)
  if (options.json) {
    console.log(JSON.stringify({ version, known, pending, functions_current: functionsCurrent }))
    return
  }
  console.log(`schema ${version}, this release ${known}`)
  for (const name of pending) console.log(`pending ${name}`)
  if (!functionsCurrent) console.log('pending functions')
}

function wholeNumber(text: string): number {
  if (!/^\d+$/.test(text)) throw new InvalidArgumentError('expected a whole number')
  return Number(text)
}
