import { ARCHIVE } from '../archive.ts'
import type { CommandFile } from '../command.ts'
import { ago } from '../render/time.ts'

const REASONS = { not_announced: 'nobody has announced them', not_planned: 'they wait to be planned' } as const

/** Lists revisions that are known or missing, and not planned. */
export const archiveGaps: CommandFile = {
  usage: 'NAME',
  examples: ['millrace archive gaps My-Project', 'millrace archive gaps My-Project --json=first,last,reason'],
  prints: 'list',
  define: (command) => void command.argument('<name>', ARCHIVE),
  async run({ output, server, signal }, [name = '']) {
    const { client, routes } = await server()
    const { items, planned } = await client.call(routes.archives.gaps, { params: { name } }, { signal })
    await output.list(
      items,
      [
        { title: 'from', of: ({ first }) => String(first), align: 'right' },
        { title: 'to', of: ({ last }) => String(last), align: 'right' },
        { title: 'why', of: ({ reason }) => REASONS[reason], plain: ({ reason }) => reason },
        { title: 'since', of: ({ since }) => ago(since), plain: ({ since }) => since ?? '' },
      ],
      { id: ({ first }) => String(first), none: `no gaps: all that is known is planned, up to r${planned}` },
    )
  },
}
