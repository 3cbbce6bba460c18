import type { CommandFile } from '../command.ts'
import { NODE } from '../node.ts'
import { confirm } from '../prompt.ts'
import { count } from '../render/text.ts'

type Options = { readonly chain?: boolean; readonly yes?: boolean }

/** Removes nodes that do not run, and what they left. */
export const nodeRm: CommandFile = {
  usage: 'ID... [--chain] [--yes]',
  examples: ['millrace node rm 12', 'millrace node rm 12 13 --chain --yes'],
  prints: 'change',
  define(command) {
    command.argument('<node...>', NODE).option('--chain', 'with all that is below').option('-y, --yes', 'do not ask')
  },
  async run(context, ids, { chain, yes }: Options) {
    const { client, routes } = await context.server()
    const what = ids.length === 1 ? `node ${ids[0]}` : count(ids.length, 'node')
    if (!yes) await confirm(context, `remove ${what}${chain ? ' and all below' : ''}, with output?`)
    let removed = 0
    for (const id of ids) {
      const asked = { params: { id }, query: { chain: chain ? ('true' as const) : ('false' as const) } }
      try {
        removed += (await client.call(routes.nodes.remove, asked, { signal: context.signal })).removed
      } catch (error) {
        if (removed > 0) context.output.note(`removed ${count(removed, 'node')} before node ${id}`)
        throw error
      }
    }
    context.output.one({ removed }, () => [`removed ${count(removed, 'node')}`])
  },
}
