import type { Performed, Request } from './perform.ts'
import type { Postgres, Redis } from './servers.ts'

/** How much work each claim is measured with. */
export type Sizes = {
  drain: number
  bulk: number
  singly: number
  samples: number
  chain: number
  fan: number
  requirements: number[]
  finished: number
  waiting: number
  stored: number
  snapshotMinutes: number
  nodes: number
  starts: number
  streams: number
  indexed: number
  backlog: number
  archives: number
}

/** What a claim needs to measure itself. */
export type Bench = {
  rounds: number
  sizes: Sizes
  bin: string
  postgres: Postgres
  redis: Redis
  /** Whether a contender takes part: Millrace only when it is built, others unless left out by hand. */
  takesPart: (contender: string) => boolean
  perform: <T>(request: Request) => Promise<Performed<T>>
}

export type Row = { contender: string; what: string; unit: string; values: number[] }
/** `held` is null when something that the bar compares was not measured. */
export type Verdict = { bar: string; reached: string; held: boolean | null }
export type Result = { claim: string; rows: Row[]; verdicts: Verdict[]; notes: string[] }
export type Claim = { name: string; about: string; measure(bench: Bench): Promise<Result> }

/** Makes an empty store for a contender and lets it create its tables there. */
export async function freshStore(bench: Bench, contender: string, suffix = ''): Promise<string> {
  if (contender === 'bullmq') {
    bench.redis.clear()
    return bench.redis.url
  }
  const url = await bench.postgres.freshDatabase(`bench_${contender}${suffix}`.replaceAll('-', '_'))
  await bench.perform({ contender, url, operation: 'prepare' })
  return url
}

/** Collects figures by contender and kind, in the order in which they first appear. */
export function figures() {
  const rows: Row[] = []
  return {
    rows,
    note(contender: string, what: string, unit: string, value: number): void {
      const found = rows.find((row) => row.contender === contender && row.what === what)
      if (found) found.values.push(value)
      else rows.push({ contender, what, unit, values: [value] })
      console.log(`  ${contender}: ${what} ${figure(value)} ${unit}`)
    },
    /** The median over the rounds, or NaN when it was not measured. */
    of(contender: string, what: string): number {
      return median(rows.find((row) => row.contender === contender && row.what === what)?.values ?? [])
    },
  }
}

/** A bar on the ratio of two figures. NaN on either side means that it cannot be judged. */
export function ratioBar(bar: string, ratio: number, limit: { atLeast: number } | { atMost: number }): Verdict {
  if (Number.isNaN(ratio)) return { bar, reached: 'not measured', held: null }
  const held = 'atLeast' in limit ? ratio >= limit.atLeast : ratio <= limit.atMost
  return { bar, reached: `${ratio.toFixed(2)} x`, held }
}

export function median(values: number[]): number {
  return quantile(values, 0.5)
}

/** The nearest value at or above the given share of the sorted values; between two for an even median. */
export function quantile(values: number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  const last = sorted.length - 1
  if (share !== 0.5) return sorted[Math.min(last, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN
  return ((sorted[Math.floor(last / 2)] ?? Number.NaN) + (sorted[Math.ceil(last / 2)] ?? Number.NaN)) / 2
}

export function mean(values: number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}

/** The largest of those that were measured. */
export function best(values: number[]): number {
  const measured = values.filter((value) => !Number.isNaN(value))
  return measured.length > 0 ? Math.max(...measured) : Number.NaN
}

export function least(values: number[]): number {
  return -best(values.map((value) => -value))
}

export function figure(value: number): string {
  if (Number.isNaN(value)) return '–'
  return value >= 100 ? Math.round(value).toLocaleString('en-US') : value.toFixed(2)
}

export const perSecond = (count: number, ms: number) => (count / ms) * 1000
