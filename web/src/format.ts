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

const MOMENT_MS = 5_000

function inOneUnit(ms: number): string {
  const [unit, length] = UNITS.find(([, size]) => ms >= size) ?? ['s', 1_000]
  return `${Math.floor(ms / length)} ${unit}`
}

/** How long ago or how soon, in one unit: `just now`, `4 min ago`, `in 2 h`. */
export function formatRelative(at: number, now: number): string {
  const distance = Math.abs(now - at)
  if (!Number.isFinite(distance)) return 'at an unknown time'
  if (distance < MOMENT_MS) return 'just now'
  return at > now ? `in ${inOneUnit(distance)}` : `${inOneUnit(distance)} ago`
}

/** For how long something has lasted, in one unit: `for a moment`, `for 4 min`. */
export function formatLasting(since: number, now: number): string {
  const lasted = now - since
  if (!Number.isFinite(lasted)) return 'for an unknown time'
  return lasted < MOMENT_MS ? 'for a moment' : `for ${inOneUnit(lasted)}`
}

const MEDIUM = { dateStyle: 'medium', timeStyle: 'medium' } as const
const TIME = { hour: '2-digit', minute: '2-digit', second: '2-digit', hour12: false } as const
const DAY = { month: 'short', day: 'numeric', hour: '2-digit', minute: '2-digit', hour12: false } as const
let zone: string | undefined
let dateTime = new Intl.DateTimeFormat(undefined, MEDIUM)
let brief = briefFormats()

/** From now on times are written in this zone: `Europe/Zurich`. See zone.ts, which knows what was chosen. */
export function writeTimesIn(timeZone: string): void {
  zone = timeZone
  dateTime = timeFormat(MEDIUM)
  brief = briefFormats()
}

function briefFormats() {
  return { time: timeFormat(TIME), dayAndTime: timeFormat(DAY), day: timeFormat({ dateStyle: 'short' }) }
}

/** Writes times in another way than `formatInstant` does, in the zone that was chosen. */
export function timeFormat(look: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  return new Intl.DateTimeFormat(undefined, { ...look, timeZone: zone })
}

/** A time in the zone that was chosen. */
export const formatInstant = (at: number): string => (Number.isFinite(at) ? dateTime.format(at) : 'unknown')

/** The same where there is little room: `05:33:37` of today, `Nov 16, 05:33` of another day. */
export function formatBriefInstant(at: number, now: number): string {
  if (!Number.isFinite(at)) return 'unknown'
  const { time, dayAndTime, day } = brief
  return (day.format(at) === day.format(now) ? time : dayAndTime).format(at)
}

/** A sentence of the server, whose stamps are of UTC, with its times in the zone that was chosen; each a part of its own. */
export const partsWithTimes = (sentence: string): readonly { readonly text: string; readonly stamp?: string }[] =>
  sentence
    .split(/(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z)/)
    .map((text, i) => (i % 2 === 0 ? { text } : { text: formatInstant(Date.parse(text)), stamp: text }))

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
