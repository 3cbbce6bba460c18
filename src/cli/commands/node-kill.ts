import type { CommandFile } from '../command.ts'
import { NODE, nodeStateText } from '../node.ts'
import { confirm } from '../prompt.ts'
import { count } from '../render/text.ts'

/** Kills nodes: what has not started never does, what runs is stopped. When one is not known, none is killed. */
export const nodeKill: CommandFile = {
  usage: 'ID... [--yes]',
  examples: ['millrace node kill 12', 'millrace node kill 12 13 --yes --json'],
  prints: 'list',
  define: (command) => void command.argument('<node...>', NODE).option('-y, --yes', 'do not ask'),
  async run(context, ids, { yes }: { yes?: boolean }) {
    const { output, signal } = context
    const { client, routes } = await context.server()
    if (!yes) await confirm(context, `kill ${ids.length === 1 ? `node ${ids[0]}` : count(ids.length, 'node')}?`)
    const { nodes } = await client.call(routes.scheduler.kill, { body: { ids: [...ids] } }, { signal })
    await output.list(
      nodes,
      [
        { title: 'id', of: ({ id }) => id, align: 'right' },
        { title: 'state', of: ({ state }) => nodeStateText(state), plain: ({ state }) => state },
      ],
      { id: ({ id }) => id, none: '' },
    )
  },
}
