import { LONG_MS, type Pool, transaction } from '../db/index.ts'
import { pruneTasks } from './prune.sql.ts'
import type { TaskState } from './task.ts'

export type PruneOptions = {
  /** Only tasks that ended at least this long ago. */
  readonly olderThanSeconds: number
  /** Only tasks of this scope. */
  readonly scope?: string
  /** Only tasks of this kind. */
  readonly kind?: string
  /** Only tasks that ended so. Default: all four. */
  readonly states?: readonly Extract<TaskState, 'succeeded' | 'failed' | 'canceled' | 'skipped'>[]
  /** At most this many, in transactions of a thousand. Default: all. */
  readonly limit?: number
}

const BATCH = 1000

/** Deletes finished tasks with their history. Answers how many. */
export async function prune(pool: Pool, options: PruneOptions): Promise<number> {
  const limit = options.limit ?? Number.POSITIVE_INFINITY
  let total = 0
  let after = '0'
  while (total < limit) {
    const { count, last } = await transaction(
      pool,
      (tx) =>
        pruneTasks(tx, {
          seconds: options.olderThanSeconds,
          scope: options.scope ?? null,
          kind: options.kind ?? null,
          states: [...(options.states ?? (['succeeded', 'failed', 'canceled', 'skipped'] as const))],
          limit: Math.min(BATCH, limit - total),
          after,
        }),
      { statementMs: LONG_MS },
    )
    total += count
    if (last === null) break
    after = last
  }
  return total
}
