import { type Command, InvalidArgumentError } from 'commander'
import { addFlags, configOf } from './flags.ts'

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
export function addMigrate(program: Command): void {
  const migrate = program.command('migrate').description("the database's schema")
  addFlags(migrate.command('up').description('bring the schema up to date'), ['data', 'database_url'])
    .option('--json', 'print JSON')
    .addHelpText('after', examples.up)
    .action(up)
  addFlags(migrate.command('status').description('compare the schema with this release'), ['data', 'database_url'])
    .option('--json', 'print JSON')
    .addHelpText('after', examples.status)
    .action(status)
  migrate
    .command('sql')
    .description('print the script of an upgrade, without a database')
    .option('--from <version>', 'the schema that the database has', wholeNumber, 0)
    .addHelpText('after', examples.sql)
    .action(sql)
}

async function up(options: Options): Promise<void> {
  await using database = await open(options)
  const { migrate } = await import('../db/index.ts')
  const applied = await migrate(database.pool)
  if (options.json) console.log(JSON.stringify({ applied }))
  else console.log(applied.length > 0 ? `applied ${applied.join(', ')}` : 'nothing to do')
}

async function status(options: Options): Promise<void> {
  await using database = await open(options)
  const { schemaStatus } = await import('../db/index.ts')
  const { version, known, pending, functionsCurrent } = await schemaStatus(database.pool)
  if (options.json) {
    console.log(JSON.stringify({ version, known, pending, functions_current: functionsCurrent }))
    return
  }
  console.log(`schema ${version}, this release ${known}`)
  for (const name of pending) console.log(`pending ${name}`)
  if (!functionsCurrent) console.log('pending functions')
}

async function sql(options: { from: number }): Promise<void> {
  const { migrationSql } = await import('../db/index.ts')
  process.stdout.write(await migrationSql(options.from))
}

async function open(options: Options) {
  const { openDatabase } = await import('../database.ts')
  const database = await openDatabase(configOf(options).config)
  return { pool: database.pool, [Symbol.asyncDispose]: () => database.stop() }
}

function wholeNumber(text: string): number {
  if (!/^\d+$/.test(text)) throw new InvalidArgumentError('expected a whole number')
  return Number(text)
}
