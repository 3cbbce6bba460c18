import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { childEnvironment } from '../../config/index.ts'
import type { CommandFile } from '../command.ts'
import { UsageError } from '../exit.ts'
import { addFlags, flagsOf } from '../flags.ts'

/** Opens psql on the database; the embedded one runs meanwhile. */
export const dbShell: CommandFile = {
  usage: '[ARGUMENT...]',
  examples: ['millrace db shell', "millrace db shell -c 'select count(*) from millrace.task'"],
  prints: 'one',
  foreign: 'arguments',
  define: (command) =>
    void addFlags(command, ['data', 'database_url']).argument('[argument...]', 'arguments of psql, after our options'),
  async run(context, args, options: Record<string, unknown>): Promise<number> {
    const config = await context.config(flagsOf(options))
    const host = await context.host()
    return host.besideDatabase(config, async (databaseUrl) => {
      const child = spawn('psql', [...args], {
        stdio: 'inherit',
        env: childEnvironment(variablesOf(databaseUrl), context.world.environment),
      })
      const started = await Promise.race([
        once(child, 'spawn').then(() => true),
        once(child, 'error').then(() => false),
      ])
      if (!started) throw new UsageError('there is no psql here', 'install the package postgresql-client')
      const [code] = (await once(child, 'close')) as [number | null]
      return code ?? 1
    })
  },
}

/** The URL as variables of libpq: on the command line everybody could read its password. */
function variablesOf(databaseUrl: string): Record<string, string> {
  const { hostname, port, username, password, pathname, searchParams } = new URL(databaseUrl)
  const given = {
    PGHOST: searchParams.get('host') ?? hostname,
    PGPORT: port,
    PGUSER: decodeURIComponent(username),
    PGPASSWORD: decodeURIComponent(password),
    PGDATABASE: decodeURIComponent(pathname.slice(1)),
    PGSSLMODE: searchParams.get('sslmode') ?? '',
  }
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== ''))
}
