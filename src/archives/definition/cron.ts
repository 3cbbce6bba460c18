import { Cron } from 'croner'

export type Schedule = { readonly cron: string; readonly timezone: string }
export type CronProblem = { readonly code: 'bad-cron' | 'impossible-date'; readonly message: string }

const NICKNAMES = ['@hourly', '@daily', '@midnight', '@weekly', '@monthly', '@yearly', '@annually']
const LONGEST = 200

/** Why the text is not a cron expression of five fields that comes true some day, or undefined when it is. */
export function findCronProblem(text: string): CronProblem | undefined {
  if (text.length > LONGEST) return { code: 'bad-cron', message: `a cron expression has at most ${LONGEST} characters` }
  const fields = text.trim().split(/\s+/)
  const isNickname = NICKNAMES.includes(text.trim().toLowerCase())
  if (!isNickname && fields.length !== 5) {
    if (fields[0]?.startsWith('@'))
      return { code: 'bad-cron', message: `there is no ${text.trim()}; there are ${NICKNAMES.join(', ')}` }
    const count = text.trim() === '' ? 0 : fields.length
    const message = `a cron expression has five fields (minute, hour, day, month, weekday), not ${count}`
    return { code: 'bad-cron', message }
  }
  try {
    if (toCron({ cron: text, timezone: 'UTC' }).nextRun(new Date(0)) !== null) return undefined
  } catch (error) {
    return { code: 'bad-cron', message: toWords(error as Error) }
  }
  return { code: 'impossible-date', message: `no day fits "${text}": it never comes` }
}

/** Whether the text names a zone of the IANA database. */
export function isTimezone(text: string): boolean {
  // Newer releases of Node take offsets as well; schedules must mean the same on all of them.
  if (/^[+-]|^\s*$/.test(text)) return false
  try {
    new Intl.DateTimeFormat('en', { timeZone: text })
    return true
  } catch {
    return false
  }
}

/** The names of all zones, for suggestions. */
export function timezones(): string[] {
  return ['UTC', ...Intl.supportedValuesOf('timeZone')]
}

/**
 * The next `count` moments of the schedule after `after`. A moment that the change to summer time leaves out comes
 * when the clock has jumped; one that the change to winter time repeats comes once.
 */
export function nextRuns(schedule: Schedule, after: Date, count: number): Date[] {
  return toCron(schedule).nextRuns(count, after)
}

function toCron({ cron, timezone }: Schedule): Cron {
  return new Cron(cron.trim(), { timezone, mode: '5-part', paused: true })
}

/** `CronPattern: Invalid value for minute: 60` is for those who know the library. */
function toWords(error: Error): string {
  const bare = error.message.replace(/^CronPattern: /, '').replace(/^Syntax error, /, '')
  return bare.charAt(0).toLowerCase() + bare.slice(1).replace(/\.$/, '')
}
