import { Option } from 'commander'
import { ARCHIVE, progress } from '../archive.ts'
import type { CommandFile } from '../command.ts'
import { clean } from '../render/text.ts'

type Options = { readonly accept?: 'rewritten' }

/** Looks at the repository now, and says how far the archive is planned. */
export const archiveCatchUp: CommandFile = {
  usage: 'NAME [--accept rewritten]',
  examples: ['millrace archive catch-up My-Project', 'millrace archive catch-up My-Project --accept rewritten --json'],
  prints: 'change',
  define(command) {
    command
      .argument('<name>', ARCHIVE)
      .addOption(
        new Option('--accept <what>', 'go on although the history is not the one that was planned').choices([
          'rewritten',
        ]),
      )
  },
  async run({ output, server, signal }, [name = ''], { accept }: Options) {
    const { client, routes } = await server()
    const body = accept === undefined ? {} : { accept }
    const archive = await client.call(routes.archives.catchUp, { params: { name }, body }, { signal })
    const { problem } = archive
    const told = () => [
      `${clean(name)}: ${progress(archive)}`,
      ...(problem === null ? [] : [output.style.red(clean(problem.message))]),
      ...(problem?.remedy == null ? [] : [clean(problem.remedy.replaceAll('NAME', name))]),
    ]
    output.one(archive, told, [name])
  },
}
