// The part of time that is shown, and how it is moved.
import { timeFormat } from '../../format.ts'

export type Window = { readonly from: number; readonly to: number }

const LEAST_MS = 20

/** Everything there is, with a little space; what goes on reaches to now. */
export function fitWindow(bars: readonly Window[], now: number): Window {
  let [from, to] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]
  for (const bar of bars) {
    from = Math.min(from, bar.from)
    to = Math.max(to, Number.isFinite(bar.to) ? bar.to : now)
  }
  if (from === Number.POSITIVE_INFINITY) return { from: now - 60_000, to: now }
  const space = Math.max(LEAST_MS, (to - from) * 0.02)
  return { from: from - space, to: to + space }
}

/** Nearer by a factor above 1, farther by one below; the given moment stays where it is. */
export function zoomBy({ from, to }: Window, factor: number, around: number = (from + to) / 2): Window {
  const length = Math.max(LEAST_MS, (to - from) / factor)
  const share = (around - from) / (to - from)
  return { from: around - length * share, to: around + length * (1 - share) }
}

/** Aside by a share of what is shown. */
export function panBy({ from, to }: Window, share: number): Window {
  const step = (to - from) * share
  return { from: from + step, to: to + step }
}

/** `zoom` of the address: two instants in milliseconds. Undefined: there is none, or it is nonsense. */
export function readZoom(text: string | undefined): Window | undefined {
  const found = /^(-?\d+)\.\.(-?\d+)$/.exec(text ?? '')
  if (found === null) return undefined
  const [from, to] = [Number(found[1]), Number(found[2])]
  return to - from >= LEAST_MS ? { from, to } : undefined
}

export const writeZoom = ({ from, to }: Window): string => `${Math.round(from)}..${Math.round(to)}`

const STEPS = [1, 2, 5, 10, 20, 50, 100, 200, 500].concat(
  [1, 2, 5, 10, 15, 30].map((s) => s * 1_000),
  [1, 2, 5, 10, 15, 30].map((min) => min * 60_000),
  [1, 2, 3, 6, 12, 24, 48, 168].map((h) => h * 3_600_000),
)

/** Round moments, about as many as wanted. */
export function ticksOf(
  { from, to }: Window,
  wanted: number,
): { readonly step: number; readonly at: readonly number[] } {
  const step = STEPS.find((one) => (to - from) / one <= Math.max(2, wanted)) ?? (to - from) / 2
  const first = Math.ceil(from / step) * step
  const at: number[] = []
  for (let time = first; time <= to && at.length < 100; time += step) at.push(time)
  return { step, at }
}

/** How moments so far apart are written, in the zone that was chosen. */
export const tickFormat = (step: number): Intl.DateTimeFormat =>
  timeFormat({
    ...(step >= 86_400_000 ? { month: 'short', day: 'numeric' } : { hour: '2-digit', minute: '2-digit' }),
    ...(step < 60_000 ? { second: '2-digit' } : {}),
    ...(step < 1_000 ? { fractionalSecondDigits: 3 } : {}),
    hour12: false,
  })
