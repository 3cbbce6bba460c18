import type { Context } from './context.ts'
import type { Column } from './render/table.ts'
import { clean } from './render/text.ts'
import { ago } from './render/time.ts'

export type ShownWorker = {
  readonly id: number
  readonly name: string
  readonly is_alive: boolean
  readonly wanted: 'running' | 'paused' | 'draining'
  readonly running: number
  readonly slots: number | null
  readonly started_at: string
  readonly last_seen_at: string
  readonly kinds: readonly string[]
}

export const workerColumns: readonly Column<ShownWorker>[] = [
  { title: 'id', of: ({ id }) => String(id), align: 'right' },
  { title: 'name', of: ({ name }) => clean(name), importance: 'name' },
  {
    title: 'alive',
    of: (worker) => (worker.is_alive ? 'yes' : 'no'),
    plain: (worker) => String(worker.is_alive),
  },
  { title: 'wanted', of: ({ wanted }) => wanted },
  { title: 'running', of: ({ running }) => String(running), align: 'right' },
  { title: 'slots', of: ({ slots }) => String(slots ?? ''), align: 'right' },
  { title: 'started', of: (worker) => ago(worker.started_at), plain: (worker) => worker.started_at },
  { title: 'last seen', of: (worker) => ago(worker.last_seen_at), plain: (worker) => worker.last_seen_at },
  { title: 'kinds', of: ({ kinds }) => clean(kinds.join(' ')), least: 10 },
]

/** Asks something of each of the workers, and prints what they are to do. */
export async function askWorkers(
  context: Context,
  verb: 'pause' | 'drain' | 'resume',
  ids: readonly string[],
): Promise<void> {
  const { client, routes } = await context.server()
  const asked: ShownWorker[] = []
  for (const id of ids) {
    asked.push(await client.call(routes.workers[verb], { params: { id } }, { signal: context.signal }))
  }
  await context.output.list(asked, workerColumns, { id: ({ id }) => String(id), none: '' })
}
