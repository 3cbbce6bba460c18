// How quantities are written. Nothing here is ever negative or not a number, whatever the clocks say.

const UNITS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1_000],
] as const

/** `850 ms`, `4.2 s`, `3 min 12 s`, `2 h 5 min`, `3 d 4 h`. */
export function formatDuration(ms: number): string {
  const time = Number.isFinite(ms) ? Math.max(0, ms) : 0
  if (time < 1_000) return `${Math.round(time)} ms`
  if (time < 10_000) return `${(Math.floor(time / 100) / 10).toFixed(1)} s`
  const at = UNITS.findIndex(([, length]) => time >= length)
  const [unit, length] = UNITS[at] ?? ['s', 1_000]
  const whole = Math.floor(time / length)
  const next = UNITS[at + 1]
  if (next === undefined) return `${whole} ${unit}`
  const rest = Math.floor((time - whole * length) / next[1])
  return rest === 0 ? `${whole} ${unit}` : `${whole} ${unit} ${rest} ${next[0]}`
}

/** How long ago or how soon, in one unit: `just now`, `4 min ago`, `in 2 h`. */
export function formatRelative(at: number, now: number): string {
  const distance = Math.abs(now - at)
  if (!Number.isFinite(distance)) return 'at an unknown time'
  if (distance < 5_000) return 'just now'
  const [unit, length] = UNITS.find(([, size]) => distance >= size) ?? ['s', 1_000]
  const text = `${Math.floor(distance / length)} ${unit}`
  return at > now ? `in ${text}` : `${text} ago`
}

const MEDIUM = { dateStyle: 'medium', timeStyle: 'medium' } as const
let zone: string | undefined
let dateTime = new Intl.DateTimeFormat(undefined, MEDIUM)

/** From now on times are written in this zone: `Europe/Zurich`. See zone.ts, which knows what was chosen. */
export function writeTimesIn(timeZone: string): void {
  zone = timeZone
  dateTime = timeFormat(MEDIUM)
}

/** Writes times in another way than `formatInstant` does, in the zone that was chosen. */
export const timeFormat = (look: Intl.DateTimeFormatOptions): Intl.DateTimeFormat =>
  new Intl.DateTimeFormat(undefined, { ...look, timeZone: zone })

/** A time in the zone that was chosen. */
export const formatInstant = (at: number): string => (Number.isFinite(at) ? dateTime.format(at) : 'unknown')

const whole = new Intl.NumberFormat(undefined)

/** A count with its thousands apart; `about` where it is an estimate. */
export const formatCount = (count: number, isExact = true): string =>
  isExact ? whole.format(count) : `≈ ${whole.format(count)}`

/** `812 B`, `3.4 KB`, `1.2 MB`. */
export function formatBytes(bytes: number): string {
  const size = Number.isFinite(bytes) ? Math.max(0, bytes) : 0
  if (size < 1024) return `${size} B`
  const power = Math.min(4, Math.floor(Math.log2(size) / 10))
  return `${(size / 1024 ** power).toFixed(1)} ${['B', 'KB', 'MB', 'GB', 'TB'][power]}`
}
