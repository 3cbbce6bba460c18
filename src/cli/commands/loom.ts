import { ARCHIVE } from '../archive.ts'
import type { CommandFile } from '../command.ts'
import { drawLoom } from '../draw-loom.ts'
import { positiveInteger } from '../numbers.ts'
import { prepareWidths } from '../render/text.ts'

type Options = { readonly limit: number; readonly before?: number }

/** Draws the revisions of an archive by their tasks. */
export const loom: CommandFile = {
  usage: 'ARCHIVE [--limit NUMBER] [--before REV]',
  examples: ['millrace loom My-Project', 'millrace loom My-Project --limit 50 --json'],
  prints: 'one',
  define(command) {
    command
      .argument('<archive>', ARCHIVE)
      .option('--limit <number>', 'draw at most so many revisions', positiveInteger, 20)
      .option('--before <rev>', 'draw only revisions below this one', positiveInteger)
  },
  async run({ output, server, signal }, [name = ''], { limit, before }: Options) {
    const { client, routes } = await server()
    const query = { limit, ...(before === undefined ? {} : { before }) }
    const picture = await client.call(routes.archives.loom, { params: { name }, query }, { signal })
    await prepareWidths(picture.rows.map(({ author }) => author ?? ''))
    output.one(picture, () => drawLoom(picture, output))
    if (picture.next_before !== null) output.note(`older ones: --before ${picture.next_before}`)
  },
}
