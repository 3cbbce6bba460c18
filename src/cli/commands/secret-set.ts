import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { ARCHIVE } from '../archive.ts'
import type { CommandFile } from '../command.ts'
import type { Context } from '../context.ts'
import { UsageError } from '../exit.ts'
import { readAll, readSecret } from '../prompt.ts'

type Options = { readonly archive?: string; readonly file?: string }

/** Sets a secret. Its value is never an argument: everybody on the machine could read that. */
export const secretSet: CommandFile = {
  usage: 'NAME [--archive NAME] [--file PATH]',
  examples: [
    'millrace secret set SIGNING_KEY --file key.pem',
    'pass show deploy | millrace secret set DEPLOY_TOKEN --archive My-Project',
  ],
  prints: 'change',
  define(command) {
    command
      .argument('<name>', 'name of the variable in which tasks find it')
      .option('--archive <name>', `${ARCHIVE} that alone gets it (default: all)`)
      .option('--file <path>', 'take the value from a file (default: from standard input)')
  },
  async run(context, [name = ''], { archive, file }: Options) {
    const value = withoutLastLineFeed(await readValue(context, file))
    if (value === '') throw new UsageError('the value is empty', 'pipe it in, type it, or name a file with --file')
    const { client, routes } = await context.server()
    const options = { signal: context.signal }
    const { secrets } = routes
    const set =
      archive === undefined
        ? await client.call(secrets.set, { params: { name }, body: { value } }, options)
        : await client.call(secrets.setOf, { params: { archive, name }, body: { value } }, options)
    context.output.one(set, () => [`${set.name} is set${whose(set.archive)}, version ${set.version}`], [set.name])
  },
}

const whose = (archive: string | null) => (archive === null ? ' for all archives' : ` for ${archive}`)

async function readValue(context: Context, file: string | undefined): Promise<string> {
  if (file !== undefined) {
    const path = resolve(context.world.workingDirectory ?? process.cwd(), file)
    return readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
      throw new UsageError(`${file} cannot be read: ${error.code}`, 'name a file that is there')
    })
  }
  return context.world.stdin.isTTY ? readSecret(context, 'value: ') : readAll(context)
}

/** One line is what `echo` writes, and its end is none of the secret's; of several lines the last may need its end. */
const withoutLastLineFeed = (text: string) => (/^[^\n]*\r?\n$/.test(text) ? text.trimEnd() : text)
