import type { Db } from '../db/index.ts'
import { headsOfLine } from './attention.sql.ts'

/** Those that are ready in one queue and of one kind. */
export type Line = {
  readonly queue: string
  readonly kind: string
  /** How many are ready; when it is as many as are counted, there may be more. */
  readonly waiting: number
  readonly isExact: boolean
  /** How many dispatchers take from it. */
  readonly takers: number
  /** The one that is claimed next. */
  readonly first: {
    readonly id: string
    readonly scope: string
    readonly key: string | null
    readonly readyAt: Date | null
  }
}

const MOST_COUNTED = 1000
const MOST_LINES = 50

/** The lines in which something is ready, those first whose first has waited the longest. */
export async function listLines(db: Db): Promise<Line[]> {
  const heads = await headsOfLine(db, { most: MOST_COUNTED })
  return heads
    .sort((a, b) => b.seconds - a.seconds)
    .slice(0, MOST_LINES)
    .map(({ id, scope, key, ready_at: readyAt, queue, kind, waiting, takers }) => ({
      queue,
      kind,
      waiting,
      isExact: waiting < MOST_COUNTED,
      takers,
      first: { id, scope, key, readyAt },
    }))
}
