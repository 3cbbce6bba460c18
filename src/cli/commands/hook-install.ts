import { answerInWords, check, findRepository, install } from '../../hooks/index.ts'
import type { CommandFile } from '../command.ts'
import type { Context, Server } from '../context.ts'
import { UsageError } from '../exit.ts'
import { type HookToken, hookToken } from '../hook-token.ts'
import { addPlace, archiveOf, type PlaceOptions, placeOf } from '../hooked-place.ts'
import { readSecret } from '../prompt.ts'
import { clean } from '../render/text.ts'

type Options = PlaceOptions & { readonly archive?: string; readonly branch?: string; readonly tokenStdin?: boolean }

/** Makes a repository announce what it gets: at once, without making anybody wait, and without Node. */
export const hookInstall: CommandFile = {
  usage: '[--svn PATH] [--git PATH] [--archive NAME] [--branch NAME] [--token-stdin]',
  examples: [
    'millrace hook install --svn /srv/svn/book --archive My-Project',
    'millrace hook install --git /srv/git/book.git --archive Book --branch main --token-stdin < token.txt',
  ],
  prints: 'change',
  define(command) {
    addPlace(command)
      .option('--archive <name>', 'the archive to tell')
      .option(
        '--branch <name>',
        'the branch that is the archive, of git (default: the one that the server watches, or HEAD)',
      )
      .option('--token-stdin', 'take the token from standard input instead of making one')
  },
  async run(context, _, options: Options) {
    const { output } = context
    const archive = archiveOf(options)
    const repository = await findRepository(placeOf(options))
    const server = await context.server()
    const { connection } = server
    const branch = options.branch ?? (await branchOf(context, server, archive)) ?? repository.branch
    const token = options.tokenStdin
      ? await givenToken(context)
      : await hookToken({ server, signal: context.signal }, repository, archive)
    const { folder, hooks, wrapped } = await install(repository, { archive, url: connection.url, branch, ...token })
    const { status, sender } = await check(folder, repository.owner)
    const isReached = status === 200
    const told = { archive, repository: repository.path, hooks, wrapped, server: connection.url, reached: isReached }
    output.one(told, () => [
      `${clean(repository.path)} announces to ${clean(archive)} at ${clean(connection.url)}`,
      ...hooks.map((hook) => `  ${clean(hook)}`),
      ...wrapped.map((file) => `  ${clean(file)} is what was there: it is called afterwards`),
    ])
    const kind = `--${repository.kind} ${clean(repository.path)}`
    if (isReached) output.note(`try it with \`millrace hook test ${kind}\``)
    else
      output.note(
        `note: in the environment of a hook, ${answerInWords(status, sender)}; what comes is kept and sent later`,
      )
  },
}

/** The branch that the server watches. A server that is away, or that lets only administrators look, says nothing. */
async function branchOf(context: Context, { client, routes }: Server, archive: string): Promise<string | undefined> {
  try {
    const params = { name: archive }
    const { source } = await client.call(routes.archives.get, { params }, { signal: context.signal })
    return source.type === 'git' ? source.branch : undefined
  } catch (error) {
    if ((error as { code?: string }).code === 'archive_not_found') {
      context.output.note(`note: the server has no archive ${clean(archive)} yet; \`millrace archive add\` makes one`)
    }
    return undefined
  }
}

/** The token that was piped in. */
async function givenToken(context: Context): Promise<HookToken> {
  const token = await readSecret(context, 'token of the hook: ')
  if (/^[\w.~+/=-]+$/.test(token)) return { token, tokenId: undefined }
  throw new UsageError('that is not a token', 'an administrator makes one with `millrace token create`')
}
