import type { Db } from '../db/index.ts'
import { readDispatchers } from './lists.sql.ts'

export type DispatcherSummary = {
  readonly id: number
  readonly name: string
  readonly host: string | null
  readonly startedAt: Date
  readonly lastSeenAt: Date
  readonly leaseSeconds: number
  readonly isAlive: boolean
  /** How many tasks it performs, or has claimed to perform next. */
  readonly running: number
  readonly queues: readonly string[]
  readonly kinds: readonly string[]
}

const MOST = 1000

/** Dispatchers that hold a lease, the newest first; with `all` also those that have stopped or died. */
export async function listDispatchers(db: Db, options: { all?: boolean } = {}): Promise<DispatcherSummary[]> {
  const rows = await readDispatchers(db, { is_all: options.all ?? false, limit: MOST })
  return rows.map((row) => ({
    id: row.id,
    name: row.name,
    host: row.host,
    startedAt: row.started_at,
    lastSeenAt: row.last_seen_at,
    leaseSeconds: row.lease_seconds,
    isAlive: row.is_alive,
    running: row.running,
    queues: row.queues,
    kinds: row.kinds,
  }))
}
