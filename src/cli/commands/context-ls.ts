import { readContexts } from '../../config/index.ts'
import type { CommandFile } from '../command.ts'

type Row = { readonly name: string; readonly url: string; readonly current: boolean; readonly signed_in: boolean }

/** Lists the servers that are kept, without their tokens. */
export const contextLs: CommandFile = {
  usage: '',
  examples: ['millrace context ls', 'millrace context ls --json=name,url'],
  prints: 'list',
  async run({ output, world }) {
    const { current, contexts } = readContexts(world.environment)
    const rows = Object.entries(contexts).map(([name, { url, token }]): Row => {
      return { name, url, current: name === current, signed_in: token !== undefined }
    })
    await output.list(
      rows,
      [
        { title: '', of: (row) => (row.current ? '*' : ''), plain: (row) => String(row.current) },
        { title: 'name', of: ({ name }) => name, importance: 'key' },
        { title: 'server', of: ({ url }) => url, least: 20 },
        { title: 'token', of: (row) => (row.signed_in ? 'kept' : '-'), plain: (row) => String(row.signed_in) },
      ],
      { id: ({ name }) => name, none: 'no contexts; `millrace login --server URL` makes one' },
    )
  },
}
