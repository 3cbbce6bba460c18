import type { Context } from './context.ts'
import type { Column } from './render/table.ts'
import { clean } from './render/text.ts'
import { ago } from './render/time.ts'

export type Shown = {
  readonly id: string
  readonly archive: string
  readonly workflow: string
  readonly cron: string
  readonly timezone: string
  readonly state: 'active' | 'paused' | 'broken'
  readonly next_at: string | null
  readonly last: { readonly at: string; readonly outcome: string } | null
}

export const scheduleColumns: readonly Column<Shown>[] = [
  { title: 'id', of: ({ id }) => id, align: 'right' },
  { title: 'archive', of: ({ archive }) => clean(archive), least: 10 },
  { title: 'workflow', of: ({ workflow }) => clean(workflow), least: 10 },
  { title: 'when', of: ({ cron, timezone }) => clean(`${cron} ${timezone}`), least: 15 },
  { title: 'state', of: ({ state }) => state },
  { title: 'next', of: ({ next_at }) => ago(next_at), plain: ({ next_at }) => next_at ?? '' },
  {
    title: 'last',
    of: ({ last }) => (last === null ? '' : `${last.outcome} ${ago(last.at)}`),
    plain: ({ last }) => last?.at ?? '',
  },
]

/** Does something to each of the schedules, and prints what became of them. */
export async function changeSchedules(
  context: Context,
  verb: 'pause' | 'resume',
  ids: readonly string[],
): Promise<void> {
  const { client, routes } = await context.server()
  const changed: Shown[] = []
  for (const id of ids) {
    changed.push(await client.call(routes.schedules[verb], { params: { id } }, { signal: context.signal }))
  }
  await context.output.list(changed, scheduleColumns, { id: ({ id }) => id, none: '' })
}
