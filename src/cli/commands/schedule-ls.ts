import type { CommandFile } from '../command.ts'
import { type Shown, scheduleColumns } from '../schedule.ts'

/** Lists schedules, of one archive or of all. */
export const scheduleLs: CommandFile = {
  usage: '[ARCHIVE]',
  examples: ['millrace schedule ls', 'millrace schedule ls My-Project --json=workflow,next_at'],
  prints: 'list',
  define: (command) => void command.argument('[archive]', 'list only schedules of this archive'),
  async run({ output, server, signal }, [archive]) {
    const { client, routes } = await server()
    const items: Shown[] = []
    let cursor: string | undefined
    do {
      const query = { limit: 500, ...(cursor === undefined ? {} : { cursor }) }
      const page =
        archive === undefined
          ? await client.call(routes.schedules.list, { query }, { signal })
          : await client.call(routes.schedules.listOf, { params: { name: archive }, query }, { signal })
      items.push(...page.items)
      cursor = page.next_cursor ?? undefined
    } while (cursor !== undefined)
    await output.list(items, scheduleColumns, { id: ({ id }) => id, none: 'no workflow has a schedule' })
  },
}
