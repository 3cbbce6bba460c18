// When a workflow runs by itself.
import { nextRuns } from './definition/cron.ts'

export type Times = { readonly cron: string; readonly timezone: string }

export type Schedule = Times & {
  readonly id: string
  readonly archive: string
  readonly workflow: string
  readonly overlap: 'skip' | 'allow'
  /** Null: it never comes again. Of a paused one, when it would have come. */
  readonly nextAt: Date | null
  readonly pausedAt: Date | null
  readonly pausedBy: string | null
  /** Why it cannot run. */
  readonly problem: string | null
  readonly last: LastTick | null
}

export type LastTick = {
  readonly at: Date
  readonly outcome: Outcome
  readonly run: string | null
  readonly rev: number | null
  readonly reason: string | null
}

export type Outcome = 'planned' | 'skipped' | 'refused'

/** What came of a moment. */
export type Tick = LastTick & {
  readonly takenAt: Date
  /** The first of several moments that nobody took: all of them became this one. */
  readonly missedSince: Date | null
  readonly actor: string | null
}

/** The next moment after `after`; null when none comes. */
export function nextAfter(times: Times, after: Date): Date | null {
  return nextRuns(times, after, 1)[0] ?? null
}

const MINUTE_MS = 60_000

/**
 * The last moment up to `now`, given that `first` is one. It looks back by steps that double, so that a year without a
 * server does not take long.
 */
export function latestDue(times: Times, first: Date, now: Date): Date {
  for (let back = MINUTE_MS; ; back *= 2) {
    const from = Math.max(first.getTime() - 1, now.getTime() - back)
    let found = nextAfter(times, new Date(from))
    if (found !== null && found <= now) {
      for (let next = nextAfter(times, found); next !== null && next <= now; next = nextAfter(times, found))
        found = next
      return found < first ? first : found
    }
    if (from < first.getTime()) return first
  }
}
