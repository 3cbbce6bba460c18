import { ARCHIVE } from '../archive.ts'
import type { CommandFile } from '../command.ts'
import { confirm } from '../prompt.ts'

type Options = { readonly archive?: string; readonly yes?: boolean }

/** Removes a secret. Tasks that ask for it fail from then on. */
export const secretRm: CommandFile = {
  usage: 'NAME [--archive NAME] [--yes]',
  examples: ['millrace secret rm DEPLOY_TOKEN', 'millrace secret rm DEPLOY_TOKEN --archive My-Project --yes'],
  prints: 'change',
  define(command) {
    command
      .argument('<name>', 'name of the secret')
      .option('--archive <name>', `${ARCHIVE} whose own it is (default: the one for all)`)
      .option('-y, --yes', 'do not ask')
  },
  async run(context, [name = ''], { archive, yes }: Options) {
    if (!yes) await confirm(context, `remove secret ${name}${archive === undefined ? '' : ` of ${archive}`}?`)
    const { client, routes } = await context.server()
    const options = { signal: context.signal }
    if (archive === undefined) await client.call(routes.secrets.remove, { params: { name } }, options)
    else await client.call(routes.secrets.removeOf, { params: { archive, name } }, options)
    context.output.one({ name, archive: archive ?? null, removed: true }, () => [`removed ${name}`], [name])
  },
}
