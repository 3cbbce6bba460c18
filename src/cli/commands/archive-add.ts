import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { describeArchive } from '../archive.ts'
import type { CommandFile } from '../command.ts'
import { UsageError } from '../exit.ts'

type Options = {
  readonly svn?: string
  readonly git?: string
  readonly push?: boolean
  readonly branch?: string
  readonly path?: string
  readonly from?: string
  readonly usernameSecret?: string
  readonly passwordSecret?: string
}

/** Registers an archive, or changes where it is read from. */
export const archiveAdd: CommandFile = {
  usage:
    'NAME [--svn URL] [--git URL] [--push] [--branch NAME] [--path FOLDER] [--from REV] [--username-secret NAME] [--password-secret NAME]',
  examples: [
    'millrace archive add My-Project --svn /srv/svn/my-project --from 1',
    'millrace archive add Site --git https://host/site.git --branch main --json',
  ],
  prints: 'change',
  define(command) {
    command
      .argument('<name>', 'letters, digits, spaces, ".", "_" and "-"')
      .option('--svn <url>', 'a repository of Subversion: a URL, or a path on the disk of the server')
      .option('--git <url>', 'a repository of git: a URL, or a path on the disk of the server')
      .option('--push', 'no repository: the notices carry the tasks')
      .option('--branch <name>', 'of git (default: the one that the repository names first)')
      .option('--path <folder>', 'the folder that is the top of all paths')
      .option('--from <rev>', 'where history starts: head, or a number (default: head)')
      .option('--username-secret <name>', 'the secret that holds the name for the repository')
      .option('--password-secret <name>', 'the secret that holds the password for the repository')
  },
  async run(context, [name = ''], options: Options) {
    const { client, routes } = await context.server()
    const from = fromOf(options.from)
    const folder = context.world.workingDirectory ?? process.cwd()
    const body = { source: sourceOf(options, folder), ...(from === undefined ? {} : { from }) }
    const archive = await client.call(routes.archives.put, { params: { name }, body }, { signal: context.signal })
    context.output.one(archive, () => describeArchive(archive, context.output), [archive.name])
    if (archive.source.type !== 'push')
      context.output.note(
        `to be told of commits at once: \`millrace hook install --${archive.source.type} PATH --archive ${name}\``,
      )
  },
}

function sourceOf({ svn, git, push, branch, path, usernameSecret, passwordSecret }: Options, folder: string) {
  const given = [svn, git, push ? '' : undefined].filter((one) => one !== undefined)
  if (given.length !== 1)
    throw new UsageError('say where the revisions come from', 'give one of --svn, --git and --push')
  if (push) return { type: 'push' as const }
  if ((usernameSecret === undefined) !== (passwordSecret === undefined))
    throw new UsageError('a name needs a password', 'give both --username-secret and --password-secret')
  const more = {
    ...(path === undefined ? {} : { path }),
    ...(usernameSecret === undefined || passwordSecret === undefined
      ? {}
      : { credentials: { username: usernameSecret, password: passwordSecret } }),
  }
  if (svn !== undefined) {
    if (branch !== undefined) throw new UsageError('Subversion has no branches to name', 'name its folder with --path')
    return { type: 'svn' as const, url: toUrl(svn, folder), ...more }
  }
  return { type: 'git' as const, url: toUrl(git ?? '', folder), ...(branch === undefined ? {} : { branch }), ...more }
}

/** A path becomes a URL. What has a colon before its first slash is a URL, or one with a mistake that the server explains. */
function toUrl(given: string, folder: string): string {
  return given === '' || /^[^/]*:/.test(given) ? given : pathToFileURL(resolve(folder, given)).href
}

function fromOf(text: string | undefined): 'head' | number | undefined {
  if (text === undefined || text === 'head') return text
  if (/^[1-9]\d{0,14}$/.test(text)) return Number(text)
  throw new UsageError(`--from is ${text}`, 'write head, or the number of a revision')
}
