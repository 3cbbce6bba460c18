import { expect, test } from 'vitest'
import { ServerClock } from './clock.ts'
import {
  formatBriefInstant,
  formatBytes,
  formatDuration,
  formatInstant,
  formatLasting,
  formatRelative,
  partsWithTimes,
  writeTimesIn,
} from './format.ts'
import { memberOf, readJson, writeJson } from './json.ts'
import { readSearch, strings, writeSearch } from './search.ts'

test('durations are in two units at most, and never negative or not a number', () => {
  const written = [0, 850, 4_250, 59_999, 192_000, 7_500_000, 273_600_000].map(formatDuration)
  expect(written).toEqual(['0 ms', '850 ms', '4.2 s', '59 s', '3 min 12 s', '2 h 5 min', '3 d 4 h'])
  expect([-5, Number.NaN, Number.POSITIVE_INFINITY].map(formatDuration)).toEqual(['0 ms', '0 ms', '0 ms'])
})

test('distances in time are told in one unit, both ways', () => {
  const now = Date.parse('2026-01-01T00:00:00Z')
  expect(formatRelative(now - 2_000, now)).toBe('just now')
  expect(formatRelative(now - 250_000, now)).toBe('4 min ago')
  expect(formatRelative(now + 7_300_000, now)).toBe('in 2 h')
  expect(formatRelative(Number.NaN, now)).toBe('at an unknown time')
})

test('what lasts has no "ago", and a moment is one', () => {
  const now = Date.parse('2026-01-01T00:00:00Z')
  const written = [now - 2_000, now - 250_000, now + 900, Number.NaN].map((since) => formatLasting(since, now))
  expect(written).toEqual(['for a moment', 'for 4 min', 'for a moment', 'for an unknown time'])
})

test('a brief time leaves out the day when it is today, in the zone that was chosen', () => {
  const now = Date.parse('2026-11-17T05:40:00Z')
  const at = Date.parse('2026-11-16T23:33:37Z')
  writeTimesIn('Asia/Tokyo')
  expect(formatBriefInstant(at, now)).toBe('08:33:37')
  writeTimesIn('UTC')
  expect(formatBriefInstant(at, now)).toMatch(/16.*23:33$/)
  expect(formatBriefInstant(Number.NaN, now)).toBe('unknown')
})

test('stamps in a sentence are written in the zone that was chosen', () => {
  const stamp = '2026-11-17T05:33:37.711Z'
  const sentence = `is running on vm:20/937 since ${stamp} (asked at 2026-11-17)`
  for (const zone of ['Asia/Tokyo', 'UTC']) {
    writeTimesIn(zone)
    const written = formatInstant(Date.parse(stamp))
    expect(partsWithTimes(sentence)).toEqual([
      { text: 'is running on vm:20/937 since ' },
      { text: written, stamp },
      { text: ' (asked at 2026-11-17)' },
    ])
  }
})

test('bytes', () => {
  expect([812, 3_482, 1_258_291].map(formatBytes)).toEqual(['812 B', '3.4 KB', '1.2 MB'])
})

test('JSON keeps the digits of its numbers and every kind of value', () => {
  const text = '{"big":12345678901234567890,"exact":1.10,"text":"a\\"b{","list":[1,[],{}],"no":null}'
  expect(writeJson(readJson(text)).replace(/\s/g, '')).toBe(text)
  expect(memberOf(readJson(text), 'big')).toEqual({ is: 'literal', text: '12345678901234567890' })
})

test('the clock of the server is learned within the bounds of its answers', () => {
  const clock = new ServerClock()
  expect(clock.offset).toBe(0)
  const behind = 5_000 // this machine is so much behind the server
  for (let at = 10_000; at < 14_000; at += 130) {
    const server = at + 20 + behind
    clock.learn(at, at + 40, new Date(Math.floor(server / 1000) * 1000).toUTCString())
  }
  expect(Math.abs(clock.offset - behind)).toBeLessThan(120)
  clock.learn(20_000, 20_040, new Date(20_000 - 3_600_000).toUTCString())
  expect(Math.abs(clock.offset + 3_600_000)).toBeLessThan(1_000)
})

test('the search of an address is plain text, and knows only its own names', () => {
  const search = strings('q', 'at')(readSearch('?q=state%3Afailed+100%25&at=120&other=1'))
  expect(search).toEqual({ q: 'state:failed 100%', at: '120' })
  expect(writeSearch({ ...search, cursor: undefined })).toBe('?q=state%3Afailed+100%25&at=120')
  expect(writeSearch({})).toBe('')
})
