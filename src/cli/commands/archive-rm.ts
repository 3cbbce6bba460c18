import { ARCHIVE } from '../archive.ts'
import type { CommandFile } from '../command.ts'
import { confirm } from '../prompt.ts'

/** Watches an archive no more; what was planned stays, and the name with it. */
export const archiveRm: CommandFile = {
  usage: 'NAME [--yes]',
  examples: ['millrace archive rm My-Project', 'millrace archive rm My-Project --yes --json'],
  prints: 'change',
  define: (command) => void command.argument('<name>', ARCHIVE).option('-y, --yes', 'do not ask'),
  async run(context, [name = ''], { yes }: { yes?: boolean }) {
    const { client, routes } = await context.server()
    if (!yes) await confirm(context, `watch ${name} no more?`)
    await client.call(routes.archives.remove, { params: { name } }, { signal: context.signal })
    context.output.one({ name }, () => [name], [name])
    context.output.note('its history stays; `millrace archive add` with the same repository takes it up again')
  },
}
