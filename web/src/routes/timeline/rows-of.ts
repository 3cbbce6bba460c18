import type { BodyAnswered, routes } from '../../api.ts'
import { quoted, quotedWord } from '../../filter.ts'

export type Timeline = BodyAnswered<typeof routes.timeline.get>
export type Item = Timeline['items'][number]
export type SpanKind = Item['spans'][number]['kind']
export const folds = ['name', 'worker', 'scope'] as const
export type Fold = (typeof folds)[number]

/** A stretch of a task's time in milliseconds, on one of the lanes of its row. */
export type Bar = {
  readonly item: Item
  readonly kind: SpanKind
  readonly from: number
  /** Infinite: it goes on. */
  readonly to: number
  readonly outcome: string | null
  readonly worker: string | null
  readonly lane: number
}

export type Row = {
  readonly id: string
  /** What its tasks have in common, where rows are folded; undefined where the name of its one task says more. */
  readonly label: string | undefined
  /** The filter that finds its tasks among all; undefined where no filter tells them apart. */
  readonly filter: string | undefined
  readonly items: readonly Item[]
  readonly bars: readonly Bar[]
  readonly lanes: number
  readonly isCritical: boolean
}

const over = new Set(['succeeded', 'failed', 'canceled', 'skipped'])
const MOST_LANES = 12

/** The name of a task: its key without the number of its revision. */
export const nameOf = ({ key, kind, id }: Item): string => key?.replace(/^\d+:/, '').replace(/#\d+$/, '') ?? kind ?? id

const instant = (at: string | null) => (at === null ? Number.POSITIVE_INFINITY : Date.parse(at))

type Options = { readonly fold: Fold | undefined; readonly isHiding: boolean }

/** The rows of the chart: one for each task, or one for each name, worker or scope. */
export function rowsOf({ items, critical }: Timeline, { fold, isHiding }: Options): Row[] {
  const path = new Set(critical)
  const shown = isHiding ? items.filter(({ state }) => !over.has(state)) : items
  const groups = new Map<string, { readonly items: Set<Item>; readonly bars: Omit<Bar, 'lane'>[] }>()
  for (const item of shown) {
    for (const span of item.spans) {
      if (span.kind === 'over') continue
      // On a worker there is only what it performed.
      if (fold === 'worker' && span.worker === null) continue
      const key = keyOf(item, span.worker?.name, fold)
      const group = groups.get(key) ?? { items: new Set(), bars: [] }
      groups.set(key, group)
      group.items.add(item)
      group.bars.push({
        item,
        kind: span.kind,
        from: Date.parse(span.from),
        to: instant(span.to),
        outcome: span.outcome,
        worker: span.worker?.name ?? null,
      })
    }
  }
  return [...groups].map(([key, group]) => {
    const { bars, lanes } = pack(group.bars)
    const all = [...group.items]
    const isOneTask = fold === undefined || (fold === 'name' && all.length === 1)
    return {
      id: key,
      label: isOneTask ? undefined : key,
      filter: filterOf(key, fold),
      items: all,
      bars,
      lanes,
      isCritical: all.some(({ id }) => path.has(id)),
    }
  })
}

function keyOf(item: Item, worker: string | undefined, fold: Fold | undefined): string {
  if (fold === 'name') return nameOf(item)
  if (fold === 'worker') return worker ?? ''
  return fold === 'scope' ? item.scope : item.id
}

function filterOf(key: string, fold: Fold | undefined): string | undefined {
  if (fold === 'scope') return `scope:${quoted(key)}`
  return fold === 'name' ? quotedWord(key) : undefined
}

/** Gives each task a lane in which nothing else is at its time; those beyond the last lane share it. */
function pack(bars: readonly Omit<Bar, 'lane'>[]): { bars: Bar[]; lanes: number } {
  const extents = new Map<string, { from: number; to: number }>()
  for (const { item, from, to } of bars) {
    const known = extents.get(item.id)
    extents.set(item.id, { from: Math.min(from, known?.from ?? from), to: Math.max(to, known?.to ?? to) })
  }
  const ends: number[] = []
  const laneOf = new Map<string, number>()
  for (const [id, { from, to }] of [...extents].sort(([, a], [, b]) => a.from - b.from)) {
    const free = ends.findIndex((end) => end <= from)
    const lane = Math.min(free === -1 ? ends.length : free, MOST_LANES - 1)
    ends[lane] = Math.max(to, ends[lane] ?? 0)
    laneOf.set(id, lane)
  }
  return { bars: bars.map((bar) => ({ ...bar, lane: laneOf.get(bar.item.id) ?? 0 })), lanes: Math.max(1, ends.length) }
}

export type Sums = Readonly<Record<Exclude<SpanKind, 'over'>, number>> & { readonly attempts: number }

/** How long a task waited, was ready, ran and waited to be tried again, in all. */
export function sumsOf({ spans }: Item, now: number): Sums {
  const sums = { waiting: 0, ready: 0, running: 0, delayed: 0, held: 0, attempts: 0 }
  for (const { kind, from, to } of spans) {
    if (kind === 'over') continue
    sums[kind] += Math.max(0, Math.min(instant(to), now) - Date.parse(from))
    if (kind === 'running') sums.attempts += 1
  }
  return sums
}
