import { randomBytes, randomUUID } from 'node:crypto'
import {
  answerInWords,
  check,
  findRepository,
  type HookedRepository,
  install,
  listInstalled,
} from '../../hooks/index.ts'
import type { CommandFile } from '../command.ts'
import type { Context } from '../context.ts'
import { UsageError } from '../exit.ts'
import { addPlace, archiveOf, type PlaceOptions, placeOf } from '../hooked-place.ts'
import { readSecret } from '../prompt.ts'
import { clean } from '../render/text.ts'

type Options = PlaceOptions & { readonly archive?: string; readonly branch?: string; readonly tokenStdin?: boolean }
type Token = { readonly token: string; readonly tokenId: string | undefined }

/** Makes a repository announce what it gets: at once, without making anybody wait, and without Node. */
export const hookInstall: CommandFile = {
  usage: '--svn PATH | --git PATH --archive NAME [--branch NAME] [--token-stdin]',
  examples: [
    'millrace hook install --svn /srv/svn/book --archive My-Project',
    'millrace hook install --git /srv/git/book.git --archive Book --branch main --token-stdin < token.txt',
  ],
  prints: 'one',
  define(command) {
    addPlace(command)
      .option('--archive <name>', 'the archive to tell')
      .option('--branch <name>', "the branch that is the archive, of git (default: the repository's HEAD)")
      .option('--token-stdin', 'take the token from standard input instead of making one')
  },
  async run(context, _, options: Options) {
    const { output } = context
    const archive = archiveOf(options)
    const repository = await findRepository(placeOf(options))
    const { connection } = await context.server()
    const branch = options.branch ?? repository.branch
    const token = await tokenFor(context, repository, { archive, isGiven: options.tokenStdin ?? false })
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

type Wanted = { readonly archive: string; readonly isGiven: boolean }

/** The token that was given, the one that is there and works, or a new one that is good for announcing alone. */
async function tokenFor(context: Context, repository: HookedRepository, { archive, isGiven }: Wanted): Promise<Token> {
  if (isGiven) {
    const token = await readSecret(context, 'token of the hook: ')
    if (/^[\w.~+/=-]+$/.test(token)) return { token, tokenId: undefined }
    throw new UsageError('that is not a token', 'an administrator makes one with `millrace token create`')
  }
  const before = (await listInstalled(repository)).find((one) => one.archive === archive)
  if (before !== undefined && (await check(before.folder, repository.owner)).status === 200) {
    const token = await before.readToken()
    if (token !== undefined) return { token, tokenId: before.tokenId }
  }
  return makeToken(context, archive)
}

async function makeToken(context: Context, archive: string): Promise<Token> {
  const { client, routes } = await context.server()
  const shown = archive.replaceAll(/[^\p{L}\p{N} ._@/-]/gu, '-').slice(0, 60)
  const body = {
    name: `hook of ${shown} ${randomBytes(4).toString('hex')}`,
    limit: { to: 'archive' as const, name: archive },
  }
  try {
    const made = await client.call(
      routes.tokens.create,
      { body },
      { signal: context.signal, idempotencyKey: randomUUID() },
    )
    return { token: made.secret ?? '', tokenId: made.id }
  } catch (error) {
    const { code } = error as { code?: string }
    if (code !== 'forbidden' && code !== 'unauthorized') throw error
    throw new TokenNeeded(archive)
  }
}

/** Only an administrator makes tokens. */
class TokenNeeded extends Error {
  readonly code = 'not_signed_in'
  readonly remedy: string
  constructor(archive: string) {
    super('the hook needs a token, and only an administrator makes one')
    const limit = `archive:${archive}`
    this.remedy = `have one made with \`millrace token create NAME --limit ${limit}\`, and pipe it in with --token-stdin`
  }
}
