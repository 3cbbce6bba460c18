import type { CommandFile } from '../command.ts'
import { clean } from '../render/text.ts'
import { ID, paintState, refOf } from '../task.ts'

/** Prints the story of a task. */
export const events: CommandFile = {
  usage: 'ID',
  examples: ['millrace events 118', 'millrace events My-Project@12:index --ndjson'],
  prints: 'stream',
  define: (command) => void command.argument('<id>', ID),
  async run({ output, server, signal }, [id = '']) {
    const { client, routes, connection } = await server()
    const { items } = await client.call(routes.tasks.events, { params: { id: refOf(id, connection.url) } }, { signal })
    for (const item of items) {
      output.item(item, () => {
        const to = item.to === null ? '' : `  ${paintState(output.style, item.to)}`
        const by = item.actor ?? item.worker
        return `${item.at} ${clean(item.name)}${to}${by === null ? '' : `  by ${clean(by)}`}${item.cause === null ? '' : `  ${clean(item.cause)}`}`
      })
    }
  },
}
