// When the clocks of a time zone change. Only what the browser knows of zones is used.

function offsetMinutes(at: number, zone: string): number {
  const parts = new Intl.DateTimeFormat('en-US', {
    timeZone: zone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
  }).formatToParts(at)
  const of = (type: string) => Number(parts.find((part) => part.type === type)?.value)
  const there = Date.UTC(of('year'), of('month') - 1, of('day'), of('hour'), of('minute'))
  return Math.round((there - at) / 60_000)
}

export type ZoneChange = { readonly at: number; readonly byMinutes: number }

const HOUR_MS = 3_600_000

/** The next time within so many days at which the clocks of a zone are set, true to an hour; undefined: none. */
export function findZoneChange(from: number, days: number, zone: string): ZoneChange | undefined {
  try {
    // From a full minute on: a rounded difference would be another one in between.
    const begin = from - (from % 60_000)
    const before = offsetMinutes(begin, zone)
    const day = Array.from({ length: days }, (_, i) => begin + (i + 1) * 24 * HOUR_MS).find(
      (at) => offsetMinutes(at, zone) !== before,
    )
    if (day === undefined) return undefined
    for (let at = day - 24 * HOUR_MS; at <= day; at += HOUR_MS) {
      const byMinutes = offsetMinutes(at, zone) - before
      if (byMinutes !== 0) return { at, byMinutes }
    }
    return undefined
  } catch {
    return undefined // a zone that this browser does not know
  }
}
