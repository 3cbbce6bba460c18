import { ARCHIVE, progress } from '../archive.ts'
import type { CommandFile } from '../command.ts'
import { clean } from '../render/text.ts'

/** Plans the revisions of an archive again, from the first that waits. */
export const archiveResume: CommandFile = {
  usage: 'NAME',
  examples: ['millrace archive resume My-Project', 'millrace archive resume My-Project --json=state'],
  prints: 'change',
  define: (command) => void command.argument('<name>', ARCHIVE),
  async run({ output, server, signal }, [name = '']) {
    const { client, routes } = await server()
    const archive = await client.call(routes.archives.release, { params: { name } }, { signal })
    output.one(archive, () => [`${clean(name)} is active; ${progress(archive)}`], [name])
  },
}
