import type { Server } from './context.ts'
import type { TaskSummary } from './task.ts'

export type TaskFilter = {
  readonly state?: string
  readonly scope?: string
  readonly kind?: string
  readonly queue?: string
  /** Words and qualifiers, as the dashboard's search takes them. */
  readonly q?: string
}

export type Listed = { readonly items: TaskSummary[]; readonly hasMore: boolean }

const PAGE = 500 // the most that the server gives at once

/** The newest tasks that the filter lets through, `most` at most, page by page. */
export async function listTasks(
  { client, routes }: Server,
  filter: TaskFilter,
  { most, signal }: { most: number; signal: AbortSignal },
): Promise<Listed> {
  const items: TaskSummary[] = []
  let cursor: string | undefined
  do {
    const limit = Math.min(PAGE, most - items.length)
    const query = { ...filter, limit, ...(cursor === undefined ? {} : { cursor }) }
    const page = await client.call(routes.tasks.list, { query }, { signal })
    items.push(...page.items)
    cursor = page.next_cursor ?? undefined
  } while (cursor !== undefined && items.length < most)
  return { items: items.slice(0, most), hasMore: cursor !== undefined || items.length > most }
}
