import { findRepository, printHook } from '../../hooks/index.ts'
import type { CommandFile } from '../command.ts'
import { addPlace, archiveOf, type PlaceOptions, placeOf } from '../hooked-place.ts'

type Options = PlaceOptions & { readonly archive?: string; readonly branch?: string }

/** Prints the files that `hook install` would write, but for the token. */
export const hookPrint: CommandFile = {
  usage: '[--svn PATH] [--git PATH] [--archive NAME] [--branch NAME]',
  examples: [
    'millrace hook print --svn /srv/svn/book --archive My-Project',
    'millrace hook print --git /srv/git/book.git --archive Book --json',
  ],
  prints: 'list',
  define(command) {
    addPlace(command)
      .option('--archive <name>', 'the archive to tell')
      .option('--branch <name>', "the branch that is the archive, of git (default: the repository's HEAD)")
  },
  async run(context, _, options: Options) {
    const { output } = context
    const archive = archiveOf(options)
    const repository = await findRepository(placeOf(options))
    const { connection } = await context.server()
    const files = await printHook(repository, {
      archive,
      url: connection.url,
      branch: options.branch ?? repository.branch,
    })
    if (output.format === 'text') {
      for (const { path, mode, content } of files) output.line(`### ${path} (${mode})\n${content}`)
      return
    }
    const columns = [
      { title: 'path', of: ({ path }: (typeof files)[number]) => path, importance: 'key' as const },
      { title: 'mode', of: ({ mode }: (typeof files)[number]) => mode },
    ]
    await output.list(files, columns, { id: ({ path }) => path, none: '' })
  },
}
