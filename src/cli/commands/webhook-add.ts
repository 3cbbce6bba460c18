import { randomUUID } from 'node:crypto'
import type { CommandFile } from '../command.ts'
import { UsageError } from '../exit.ts'
import { collect } from '../numbers.ts'

type Options = { readonly scope: string[]; readonly topic: string[]; readonly description?: string }

/** Has a receiver told of what happens from now on. Its secret is printed once, on standard output. */
export const webhookAdd: CommandFile = {
  usage: 'URL [--scope SCOPE] [--topic NAME] [--description TEXT]',
  examples: [
    "millrace webhook add https://hooks.example/millrace --scope 'archive:*' --topic failed > secret.txt",
    'millrace webhook add https://hooks.example/nodes --scope node --json=id,secret',
  ],
  prints: 'one',
  define(command) {
    command
      .argument('<url>', 'where messages are sent')
      .option(
        '--scope <scope>',
        'only of this scope, or with * of all that begin so; may be given several times',
        collect,
      )
      .option('--topic <name>', 'only events of this name: failed, succeeded; may be given several times', collect)
      .option('--description <text>', 'for the record')
  },
  async run(context, [url = ''], { scope, topic, description }: Partial<Options>) {
    if (!URL.canParse(url)) throw new UsageError(`${url} is not a URL`, 'write https://host/path')
    const { client, routes } = await context.server()
    const body = {
      url,
      ...(scope === undefined ? {} : { scopes: scope }),
      ...(topic === undefined ? {} : { names: topic }),
      ...(description === undefined ? {} : { description }),
    }
    // A repetition after a broken connection makes no second one.
    const options = { signal: context.signal, idempotencyKey: randomUUID() }
    const made = await client.call(routes.webhooks.create, { body }, options)
    context.output.one(made, () => [made.secret ?? ''])
    context.output.note(
      `webhook ${made.id}; its secret is shown this once. Try it with \`millrace webhook test ${made.id}\``,
    )
  },
}
