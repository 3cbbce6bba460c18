import { ARCHIVE } from '../archive.ts'
import type { CommandFile } from '../command.ts'
import { commitWorkspace } from '../commit-workspace.ts'
import type { Context } from '../context.ts'
import { UsageError } from '../exit.ts'
import { clean } from '../render/text.ts'

type Options = { readonly txn?: string; readonly message?: string; readonly author?: string }

/** Announces a revision, as the post-commit hook does; or inside a task, commits its workspace. */
export const commit: CommandFile = {
  usage: '[ARCHIVE REV] [--txn NAME] [-m TEXT] [--author NAME]',
  examples: ['millrace commit My-Project 12', 'millrace commit -m "update the index of words [skip millrace]"'],
  prints: 'change',
  define(command) {
    command
      .argument('[archive]', ARCHIVE)
      .argument('[rev]', 'number of the revision; in git also the commit')
      .option('--txn <name>', 'third argument of the post-commit hook of Subversion')
      .option('-m, --message <text>', 'inside a task: commit all changes in its workspace')
      .option('--author <name>', 'author of that commit (default: Millrace)')
  },
  async run(context, [name, rev], options: Options) {
    if (name === undefined) return commitHere(context, options)
    if (rev === undefined) throw new UsageError('the revision is missing', 'write `millrace commit ARCHIVE REV`')
    if (options.message !== undefined || options.author !== undefined) {
      throw new UsageError('a revision that is announced has its message', 'leave out --message and --author')
    }
    await announce(context, { name, rev, ...options })
  },
}

async function announce(
  { output, server, signal }: Context,
  of: { name: string; rev: string; txn?: string },
): Promise<void> {
  const { name, rev, txn } = of
  const body = { rev: revOf(rev), ...(txn === undefined ? {} : { txn }) }
  const { client, routes } = await server()
  const announced = await client.call(routes.archives.commit, { params: { name }, body }, { signal })
  output.one(announced, () => [`${clean(name)} r${clean(rev)}: ${announced.known ? 'known' : 'accepted'}`])
}

async function commitHere(context: Context, { message, author = 'Millrace' }: Options): Promise<void> {
  const given = message ?? 'commit of a task'
  const made = await commitWorkspace(context, { message: given, author })
  const { revision, is_new: isNew } = made
  const said =
    revision === null
      ? 'nothing is different'
      : `${isNew ? 'committed' : 'was committed before as'} r${revision.number}`
  context.output.one(made, () => [said])
}

function revOf(text: string): number | string {
  if (/^[1-9]\d{0,14}$/.test(text)) return Number(text)
  if (/^[0-9a-f]{40}$/.test(text)) return text
  throw new UsageError(`"${text}" is no revision`, 'give its number, or in git the 40 characters of the commit')
}
