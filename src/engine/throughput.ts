import type { Db } from '../db/index.ts'
import { readThroughput } from './lists.sql.ts'

/** A bucket with more is read in part, and its counts are estimated. */
const ROWS = 4000
const BUDGET_MS = 200

export type Percentiles = { readonly p50: number; readonly p90: number; readonly p95: number }

export type ThroughputBucket = {
  readonly from: Date
  readonly to: Date
  readonly succeeded: number
  readonly failed: number
  readonly canceled: number
  readonly skipped: number
  /** False: estimated from a part of the time. */
  readonly isExact: boolean
  /** Milliseconds from ready to start; null: none was started. */
  readonly waitMs: Percentiles | null
  readonly runMs: Percentiles | null
}

export type Throughput = {
  readonly from: Date
  readonly to: Date
  /** The oldest first. Those for which the time did not suffice are missing from the beginning. */
  readonly buckets: readonly ThroughputBucket[]
  readonly isComplete: boolean
  readonly waitMs: Percentiles | null
  readonly runMs: Percentiles | null
}

type Row = Awaited<ReturnType<typeof readThroughput>>[number]

/** How many tasks ended when, and how long they waited and ran, at a cost that has a limit. */
export async function throughput(
  db: Db,
  { from, to, buckets }: { readonly from: Date; readonly to: Date; readonly buckets: number },
): Promise<Throughput> {
  const rows = await readThroughput(db, { from, to, buckets, rows: ROWS, budget_ms: BUDGET_MS })
  const length = (to.getTime() - from.getTime()) / buckets
  const at = (bucket: number) => new Date(from.getTime() + bucket * length)
  return {
    from,
    to,
    buckets: rows.reverse().map((row) => ({
      from: at(row.bucket),
      to: at(row.bucket + 1),
      succeeded: Number(row.succeeded),
      failed: Number(row.failed),
      canceled: Number(row.canceled),
      skipped: Number(row.skipped),
      isExact: row.is_exact,
      waitMs: percentiles([row], 'waits'),
      runMs: percentiles([row], 'runs'),
    })),
    isComplete: rows.length === buckets,
    waitMs: percentiles(rows, 'waits'),
    runMs: percentiles(rows, 'runs'),
  }
}

/** Of several buckets, each with the weight of what ended in it. Never negative: clocks may have been set. */
function percentiles(rows: readonly Row[], of: 'waits' | 'runs'): Percentiles | null {
  const values = rows.flatMap((row) => {
    const weight = Number(row.succeeded) + Number(row.failed)
    return (row[of] ?? []).map((seconds) => ({ ms: Math.max(0, seconds * 1000), weight }))
  })
  if (values.length === 0) return null
  values.sort((a, b) => a.ms - b.ms)
  const total = values.reduce((sum, { weight }) => sum + weight, 0)
  const at = (share: number) => {
    let sum = 0
    const found = values.find(({ weight }) => {
      sum += weight
      return sum >= total * share
    })
    return Math.round((found ?? values.at(-1))?.ms ?? 0)
  }
  return { p50: at(0.5), p90: at(0.9), p95: at(0.95) }
}
