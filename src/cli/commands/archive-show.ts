import { ARCHIVE, describeArchive } from '../archive.ts'
import type { CommandFile } from '../command.ts'

/** Shows an archive: where it is read from, how far it is planned, what is wrong. */
export const archiveShow: CommandFile = {
  usage: 'NAME',
  examples: ['millrace archive show My-Project', 'millrace archive show My-Project --json=planned,youngest'],
  prints: 'one',
  define: (command) => void command.argument('<name>', ARCHIVE),
  async run({ output, server, signal }, [name = '']) {
    const { client, routes } = await server()
    const archive = await client.call(routes.archives.get, { params: { name } }, { signal })
    output.one(archive, () => describeArchive(archive, output))
  },
}
