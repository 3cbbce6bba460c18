import type { CommandFile } from '../command.ts'
import { ID, refOf, stateAndWhy } from '../task.ts'

/** Says in one sentence why a task is in its state. */
export const why: CommandFile = {
  usage: 'ID',
  examples: ['millrace why 118', 'millrace why My-Project@12:index --json=why,culprits'],
  prints: 'one',
  define: (command) => void command.argument('<id>', ID),
  async run({ output, server }, [id = '']) {
    const { client, routes, connection } = await server()
    const found = await client.call(routes.tasks.why, { params: { id: refOf(id, connection.url) } })
    output.one(found, () => [stateAndWhy(output.style, found)])
  },
}
