import { findRepository, uninstall } from '../../hooks/index.ts'
import type { CommandFile } from '../command.ts'
import { addPlace, type PlaceOptions, placeOf } from '../hooked-place.ts'
import { clean, count } from '../render/text.ts'

type Options = PlaceOptions & { readonly archive?: string }

/** Takes the announcement out of the hooks of a repository, and ends its token. What else is there stays. */
export const hookUninstall: CommandFile = {
  usage: '[--svn PATH] [--git PATH] [--archive NAME]',
  examples: [
    'millrace hook uninstall --svn /srv/svn/book',
    'millrace hook uninstall --git /srv/git/book.git --archive Book',
  ],
  prints: 'change',
  define: (command) => void addPlace(command).option('--archive <name>', 'only this one (default: all it tells)'),
  async run(context, _, options: Options) {
    const { output, signal } = context
    const repository = await findRepository(placeOf(options))
    const { archives, unsent, tokenIds } = await uninstall(repository, options.archive)
    const { client, routes } = await context.server()
    const left: string[] = []
    for (const id of tokenIds) {
      // The hook is gone in any case; who may not end its token is told to have it ended.
      await client.call(routes.tokens.revoke, { params: { id } }, { signal }).catch(() => left.push(id))
    }
    const told = { repository: repository.path, archives, unsent, tokens_left: left }
    output.one(told, () => [
      `${clean(repository.path)} announces to ${archives.map(clean).join(', ') || 'nobody'} no more`,
    ])
    if (unsent > 0)
      output.note(`${count(unsent, 'notice')} had not been sent; the server finds what they told by looking`)
    if (left.length > 0) output.note(`its token still works: \`millrace token revoke ${left.join(' ')}\``)
  },
}
