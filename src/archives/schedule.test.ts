import { expect, test } from 'vitest'
import { latestDue, nextAfter } from './schedule.ts'

const moments = (times: { cron: string; timezone: string }, from: string, count: number) => {
  const all: string[] = []
  let at: Date | null = new Date(from)
  for (let i = 0; i < count && at !== null; i++) {
    at = nextAfter(times, at)
    if (at !== null) all.push(at.toISOString().slice(0, 16))
  }
  return all
}

test('a time that the change to summer time leaves out comes once, when the clock has jumped', () => {
  const times = { cron: '30 2 * * *', timezone: 'Europe/Berlin' }
  expect(moments(times, '2025-03-29T00:00:00Z', 3)).toEqual([
    '2025-03-29T01:30',
    '2025-03-30T01:00',
    '2025-03-31T00:30',
  ])
})

test('a time that the change to winter time repeats comes once', () => {
  const times = { cron: '30 2 * * *', timezone: 'Europe/Berlin' }
  expect(moments(times, '2025-10-25T12:00:00Z', 2)).toEqual(['2025-10-26T00:30', '2025-10-27T01:30'])
})

test('every half hour comes in both of the repeated hours', () => {
  const times = { cron: '*/30 * * * *', timezone: 'America/New_York' }
  expect(moments(times, '2025-11-02T04:59:00Z', 5)).toEqual([
    '2025-11-02T05:00',
    '2025-11-02T05:30',
    '2025-11-02T06:00',
    '2025-11-02T06:30',
    '2025-11-02T07:00',
  ])
})

test('a zone with half an hour is kept to the minute', () => {
  const times = { cron: '0 9 * * *', timezone: 'Asia/Kolkata' }
  expect(moments(times, '2025-01-01T00:00:00Z', 1)).toEqual(['2025-01-01T03:30'])
})

test('of the moments that passed, the last one is found, however many there were', () => {
  const find = (cron: string, first: string, now: string, timezone = 'UTC') =>
    latestDue({ cron, timezone }, new Date(first), new Date(now)).toISOString().slice(0, 16)
  expect(find('* * * * *', '2020-01-01T00:00:00Z', '2025-01-01T00:00:30Z')).toBe('2025-01-01T00:00')
  expect(find('* * * * *', '2025-01-01T00:00:00Z', '2025-01-01T00:00:00Z')).toBe('2025-01-01T00:00')
  expect(find('* 3 * * *', '2025-01-01T03:00:00Z', '2025-01-09T17:00:00Z')).toBe('2025-01-09T03:59')
  expect(find('0 0 1 1 *', '2025-01-01T00:00:00Z', '2025-12-31T23:59:59Z')).toBe('2025-01-01T00:00')
  expect(find('0 3 * * *', '2025-01-01T03:00:00Z', '2025-01-01T03:00:10Z')).toBe('2025-01-01T03:00')
  expect(find('30 2 * * *', '2025-03-30T01:00:00Z', '2025-03-30T12:00:00Z', 'Europe/Berlin')).toBe('2025-03-30T01:00')
})
