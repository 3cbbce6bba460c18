const SECOND = 1000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** A duration in its two largest units: `4 min 12 s`. */
export function duration(ms: number): string {
  if (ms < 0) return '0 s'
  if (ms < SECOND) return `${Math.round(ms)} ms`
  if (ms < 10 * SECOND) return `${(Math.floor(ms / 100) / 10).toFixed(1)} s`
  if (ms < MINUTE) return `${Math.floor(ms / SECOND)} s`
  if (ms < HOUR) return two(ms, [MINUTE, 'min'], [SECOND, 's'])
  if (ms < DAY) return two(ms, [HOUR, 'h'], [MINUTE, 'min'])
  return two(ms, [DAY, 'd'], [HOUR, 'h'])
}

type Unit = readonly [ms: number, name: string]

function two(ms: number, [large, largeName]: Unit, [small, smallName]: Unit): string {
  const rest = Math.floor((ms % large) / small)
  return `${Math.floor(ms / large)} ${largeName}${rest === 0 ? '' : ` ${rest} ${smallName}`}`
}

/** How long ago, in one unit: `3 min ago`; in the future `in 3 min`. */
export function ago(at: string | null, now: number = Date.now()): string {
  if (at === null) return '-'
  const ms = now - Date.parse(at)
  const [size, name] = unitOf(Math.abs(ms))
  const text = `${Math.floor(Math.abs(ms) / size)} ${name}`
  if (Math.abs(ms) < SECOND) return 'just now'
  return ms < 0 ? `in ${text}` : `${text} ago`
}

function unitOf(ms: number): Unit {
  if (ms < MINUTE) return [SECOND, 's']
  if (ms < HOUR) return [MINUTE, 'min']
  if (ms < 2 * DAY) return [HOUR, 'h']
  return [DAY, 'd']
}

/** `90s`, `10m`, `2h`, `1d`, or a bare number of seconds, in milliseconds; undefined when it is none of them. */
export function parseDuration(text: string): number | undefined {
  const [, amount, unit = 's'] = /^(\d+(?:\.\d+)?)(ms|s|m|min|h|d)?$/.exec(text) ?? []
  if (amount === undefined) return undefined
  const sizes: Record<string, number> = { ms: 1, s: SECOND, m: MINUTE, min: MINUTE, h: HOUR, d: DAY }
  const ms = Number(amount) * (sizes[unit] ?? Number.NaN)
  // Timers take no more than this.
  return ms <= 24 * DAY ? ms : undefined
}
