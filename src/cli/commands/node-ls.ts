import type { CommandFile } from '../command.ts'
import { listNodes, type NodeFilter, nodeColumns } from '../node.ts'
import { positiveInteger } from '../numbers.ts'

type Options = NodeFilter & { readonly limit: number; readonly all?: boolean }

/** Lists nodes, the oldest first. */
export const nodeLs: CommandFile = {
  usage: '[--type TYPES] [--state STATES] [--parent ID] [--limit NUMBER] [--all]',
  examples: ['millrace node ls --state running,failed', 'millrace node ls --parent root --all --json=id,state'],
  prints: 'list',
  define(command) {
    command
      .option('--type <types>', 'one type or several, separated by commas')
      .option('--state <states>', 'one state or several, separated by commas')
      .option('--parent <id>', 'list only children of this node, or root')
      .option('--limit <number>', 'list at most so many', positiveInteger, 100)
      .option('--all', 'list all')
  },
  async run(context, _, { type, state, parent, limit, all }: Options) {
    const { output, signal } = context
    const filter = Object.fromEntries(Object.entries({ type, state, parent }).filter(([, value]) => value))
    const most = all ? Number.POSITIVE_INFINITY : limit
    const { items, hasMore } = await listNodes(await context.server(), filter, { most, signal })
    await output.list(items, nodeColumns(output.style), { id: ({ id }) => id, none: 'no nodes' })
    if (hasMore) output.note(`these are the oldest ${limit}; for more: --limit, or --all`)
  },
}
