import { InvalidArgumentError } from 'commander'
import { parseDuration } from './render/time.ts'

export function positiveInteger(text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new InvalidArgumentError('expected a whole number from 1')
  return Number(text)
}

/** In milliseconds. */
export function aDuration(text: string): number {
  const ms = parseDuration(text)
  if (ms === undefined) throw new InvalidArgumentError('expected a duration such as 90s, 10m or 2h, 24 days at most')
  return ms
}

/** For an option that may be given several times. */
export const collect = (text: string, before: readonly string[] = []): string[] => [...before, text]
