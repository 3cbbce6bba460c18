import type { Db } from '../db/index.ts'
import { wantWorker } from './dispatchers.sql.ts'
import { WorkerNotFound } from './errors.ts'
import type { Wanted } from './lease-keeper.ts'
import { readDispatchers, readPresentTasks } from './lists.sql.ts'

/** A task that a dispatcher performs. */
export type PresentTask = {
  readonly id: string
  readonly kind: string | null
  readonly scope: string
  readonly key: string | null
  readonly startedAt: Date | null
}

export type DispatcherSummary = {
  readonly id: number
  readonly name: string
  readonly host: string | null
  readonly startedAt: Date
  readonly lastSeenAt: Date
  readonly leaseSeconds: number
  /** How long ago it was last seen, by the clock of the database. */
  readonly silentMs: number
  readonly isAlive: boolean
  /** How many tasks it performs, or has claimed to perform next. */
  readonly running: number
  readonly queues: readonly string[]
  readonly kinds: readonly string[]
  /** How many tasks it performs at once; null: it does not say. */
  readonly slots: number | null
  readonly process: number | null
  readonly version: string | null
  /** Null: it lives, or it died. */
  readonly stoppedAt: Date | null
  /** What was asked of it, by whom and when. */
  readonly wanted: Wanted
  readonly wantedAt: Date | null
  readonly wantedBy: string | null
  /** The first of those that it performs. */
  readonly tasks: readonly PresentTask[]
}

const MOST = 1000
const MOST_PRESENT = 20

/** Asks a live dispatcher to pause, to drain or to go on; it hears of it within a second. Throws `WorkerNotFound`. */
export async function want(db: Db, id: number, wanted: Wanted, actor: string | undefined): Promise<void> {
  const { is_so: isSo } = await wantWorker(db, { id, wanted, actor: actor ?? null })
  if (!isSo) throw new WorkerNotFound(id)
}

/** Dispatchers that hold a lease, the newest first; with `all` also those that have stopped or died. */
export async function listDispatchers(db: Db, options: { all?: boolean } = {}): Promise<DispatcherSummary[]> {
  const rows = await readDispatchers(db, { is_all: options.all ?? false, limit: MOST })
  const busy = rows.filter(({ running }) => running > 0).map(({ id }) => id)
  const present = busy.length === 0 ? [] : await readPresentTasks(db, { holders: busy, limit: MOST_PRESENT })
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
    silentMs: Number(row.silent_ms),
    slots: row.slots,
    process: row.process,
    version: row.version,
    stoppedAt: row.stopped_at,
    wanted: row.wanted as Wanted,
    wantedAt: row.wanted_at,
    wantedBy: row.wanted_by,
    tasks: present
      .filter(({ holder }) => holder === row.id)
      .map(({ id, kind, scope, key, started_at: startedAt }) => ({ id, kind, scope, key, startedAt })),
  }))
}
