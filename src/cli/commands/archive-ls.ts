import { type Archive, archiveText, behind, paintArchive, placeOf } from '../archive.ts'
import type { CommandFile } from '../command.ts'
import { ago } from '../render/time.ts'

/** Lists archives by name. */
export const archiveLs: CommandFile = {
  usage: '',
  examples: ['millrace archive ls', 'millrace archive ls --json=name,state,planned'],
  prints: 'list',
  define() {},
  async run({ output, server, signal }) {
    const { client, routes } = await server()
    const archives: Archive[] = []
    for (let cursor: string | null | undefined; cursor !== null; ) {
      const query = { limit: 500, ...(cursor === undefined ? {} : { cursor }) }
      const page = await client.call(routes.archives.list, { query }, { signal })
      archives.push(...page.items)
      cursor = page.next_cursor
    }
    await output.list(
      archives,
      [
        { title: 'name', of: ({ name }) => name, importance: 'key' },
        {
          title: 'state',
          of: ({ state }) => archiveText(state),
          plain: ({ state }) => state,
          paint: (text, { state }) => paintArchive(output.style, state, text),
        },
        { title: 'planned', of: ({ planned }) => String(planned.number), align: 'right' },
        { title: 'behind', of: (one) => String(behind(one)), align: 'right' },
        { title: 'last notice', of: (one) => ago(one.announced_at), plain: (one) => one.announced_at ?? '' },
        { title: 'type', of: ({ source }) => source.type },
        { title: 'source', of: placeOf, least: 10 },
      ],
      { id: ({ name }) => name, none: 'no archives: `millrace archive add NAME --svn URL` registers one' },
    )
  },
}
