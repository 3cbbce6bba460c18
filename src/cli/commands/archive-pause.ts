import { ARCHIVE, progress } from '../archive.ts'
import type { CommandFile } from '../command.ts'
import { clean } from '../render/text.ts'

/** Stops planning the revisions of an archive; tasks that were planned go on. */
export const archivePause: CommandFile = {
  usage: 'NAME',
  examples: ['millrace archive pause My-Project', 'millrace archive pause My-Project --json=state'],
  prints: 'change',
  define: (command) => void command.argument('<name>', ARCHIVE),
  async run({ output, server, signal }, [name = '']) {
    const { client, routes } = await server()
    const archive = await client.call(routes.archives.hold, { params: { name } }, { signal })
    output.one(archive, () => [`${clean(name)} is held; ${progress(archive)}`], [name])
    output.note(`commits are announced and wait; go on with \`millrace archive resume ${name}\``)
  },
}
