import type { CommandFile } from '../command.ts'
import { workerColumns } from '../worker.ts'

/** Lists who performs tasks. */
export const workerLs: CommandFile = {
  usage: '[--all]',
  examples: ['millrace worker ls', 'millrace worker ls --all --json=name,running'],
  prints: 'list',
  define: (command) => void command.option('--all', 'list stopped and lost workers, too'),
  async run({ output, server, signal }, _, { all }: { all?: boolean }) {
    const { client, routes } = await server()
    const { items } = await client.call(routes.workers.list, { query: { all: all ? '1' : '0' } }, { signal })
    await output.list(items, workerColumns, {
      id: ({ id }) => String(id),
      none: 'nobody performs tasks: start `millrace serve` or `millrace worker`',
    })
  },
}
