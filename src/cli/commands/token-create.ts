import { randomUUID } from 'node:crypto'
import { Option } from 'commander'
import type { CommandFile } from '../command.ts'
import { UsageError } from '../exit.ts'
import { aDuration } from '../numbers.ts'

type Role = 'viewer' | 'submitter' | 'operator' | 'admin'
type Options = { readonly role?: Role; readonly limit?: string; readonly expires?: number }

/** Makes a token. Its secret is printed once, on standard output. */
export const tokenCreate: CommandFile = {
  usage: 'NAME [--role ROLE] [--limit THING] [--expires DURATION]',
  examples: [
    'millrace token create ci --role submitter --expires 20d > token.txt',
    'millrace token create hook --limit archive:My-Project --json',
  ],
  prints: 'one',
  define(command) {
    command
      .argument('<name>', 'name of the token')
      .addOption(new Option('--role <role>', 'role of the token').choices(['viewer', 'submitter', 'operator', 'admin']))
      .option('--limit <thing>', 'limit it to one thing instead: archive:NAME, node:ID or task:ID')
      .option('--expires <duration>', 'expire after this time: 12h, 20d (default: never)', aDuration)
  },
  async run(context, [name = ''], { role, limit, expires }: Options) {
    if ((role === undefined) === (limit === undefined)) {
      throw new UsageError('say what the token may do', 'give --role or --limit, and not both')
    }
    const { client, routes } = await context.server()
    const body = {
      name,
      ...(role === undefined ? {} : { role }),
      ...(limit === undefined ? {} : { limit: limitOf(limit) }),
      ...(expires === undefined ? {} : { expires_at: new Date(Date.now() + expires).toISOString() }),
    }
    // A repetition after a broken connection makes no second token.
    const options = { signal: context.signal, idempotencyKey: randomUUID() }
    const token = await client.call(routes.tokens.create, { body }, options)
    context.output.one(token, () => [token.secret ?? ''])
    context.output.note(`token ${token.id} (${token.name}); this is the only time that its secret is shown`)
  },
}

function limitOf(text: string) {
  const [, to, name] = /^(archive|node|task):(.+)$/.exec(text) ?? []
  if (to === undefined || name === undefined) {
    throw new UsageError(`--limit is ${text}`, 'write archive:NAME, node:ID or task:ID')
  }
  return { to: to as 'archive' | 'node' | 'task', name }
}
