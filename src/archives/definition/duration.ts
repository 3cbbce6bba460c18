const UNITS = { d: 86_400, h: 3600, m: 60, s: 1 } as const
const DURATION = /^(?:(\d{1,9})d)?(?:(\d{1,9})h)?(?:(\d{1,9})m)?(?:(\d{1,9})s)?$/

/** `90s`, `10m`, `2h`, `1h30m`, `1d` in seconds, or undefined for anything else. */
export function parseDuration(text: string): number | undefined {
  const match = DURATION.exec(text)
  if (text === '' || match === null) return undefined
  const [, days, hours, minutes, seconds] = match
  const count = (digits: string | undefined, unit: keyof typeof UNITS) => Number(digits ?? 0) * UNITS[unit]
  return count(days, 'd') + count(hours, 'h') + count(minutes, 'm') + count(seconds, 's')
}

/** What was probably meant by a duration that is none: `30 minutes` is `30m`. */
export function suggestDuration(text: string): string | undefined {
  const match = /^\s*(\d{1,9})\s*(d|h|m|s|days?|hours?|hrs?|minutes?|mins?|seconds?|secs?)?\s*$/i.exec(text)
  if (match === null) return undefined
  const [, count = '', unit = 's'] = match
  return `${count}${unit.charAt(0).toLowerCase()}`
}
