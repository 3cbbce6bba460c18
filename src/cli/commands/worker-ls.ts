import type { CommandFile } from '../command.ts'
import { ago } from '../render/time.ts'

/** Lists who performs tasks. */
export const workerLs: CommandFile = {
  usage: '[--all]',
  examples: ['millrace worker ls', 'millrace worker ls --all --json=name,running'],
  prints: 'list',
  define: (command) => void command.option('--all', 'those that have stopped or died, too'),
  async run({ output, server, signal }, _, { all }: { all?: boolean }) {
    const { client, routes } = await server()
    const { items } = await client.call(routes.workers.list, { query: { all: all ? '1' : '0' } }, { signal })
    await output.list(
      items,
      [
        { title: 'id', of: ({ id }) => String(id), align: 'right' },
        { title: 'name', of: ({ name }) => name, least: 12 },
        {
          title: 'alive',
          of: (worker) => (worker.is_alive ? 'yes' : 'no'),
          plain: (worker) => String(worker.is_alive),
        },
        { title: 'running', of: ({ running }) => String(running), align: 'right' },
        { title: 'started', of: (worker) => ago(worker.started_at), plain: (worker) => worker.started_at },
        { title: 'last seen', of: (worker) => ago(worker.last_seen_at), plain: (worker) => worker.last_seen_at },
        { title: 'kinds', of: ({ kinds }) => kinds.join(' '), least: 10 },
      ],
      { id: ({ id }) => String(id), none: 'nobody performs tasks: start `millrace serve` or `millrace worker`' },
    )
  },
}
