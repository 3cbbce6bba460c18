// The small grammars that stand in a workflow file: durations, dates, images, commands, names, keys.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { nameOfTask } from '../../engine/index.ts'
import { splitCommand } from './command-words.ts'
import { findCronProblem, isTimezone, nextRuns } from './cron.ts'
import { parseDuration, suggestDuration } from './duration.ts'
import { findImageProblem } from './image.ts'
import { findJsonProblem } from './json-syntax.ts'
import { formatKey, parseKey, toEngineKey } from './key.ts'
import { nearest } from './nearest.ts'

test('a duration is read in seconds', () => {
  const read = Object.fromEntries(
    ['90s', '10m', '2h', '1h30m', '1d', '1d2h3m4s', '0s'].map((text) => [text, parseDuration(text)]),
  )
  expect(read).toEqual({ '90s': 90, '10m': 600, '2h': 7200, '1h30m': 5400, '1d': 86_400, '1d2h3m4s': 93_784, '0s': 0 })
  for (const text of ['', '1', 's', '1 h', '1.5h', '-1h', '1m1h', '1h1h', '1H', '1h ', '٣h'])
    expect(parseDuration(text), text).toBeUndefined()
  expect(suggestDuration('5 Minutes')).toBe('5m')
})

test('a schedule comes once when the clock changes', () => {
  const at = (cron: string, after: string, count: number) =>
    nextRuns({ cron, timezone: 'Europe/Berlin' }, new Date(after), count).map((date) => date.toISOString())
  expect(at('30 2 * * *', '2026-03-28T12:00:00Z', 2)).toEqual(['2026-03-29T01:00:00.000Z', '2026-03-30T00:30:00.000Z'])
  expect(at('30 2 * * *', '2026-10-24T12:00:00Z', 2)).toEqual(['2026-10-25T00:30:00.000Z', '2026-10-26T01:30:00.000Z'])
})

test('a date that comes once in four years is none that never comes', () => {
  expect(findCronProblem('0 0 29 2 *')).toBeUndefined()
  expect(findCronProblem('0 0 30 2 *')?.code).toBe('impossible-date')
  expect(findCronProblem('0 0 30 2 1')).toBeUndefined()
  for (const text of [
    '* * * *',
    '* * * * * *',
    '2026-01-01T00:00:00',
    '@reboot',
    '61 * * * *',
    '* * * * 8',
    '*/0 * * * *',
    'a b c d e',
    '5-1 * * * *',
    '* '.repeat(300),
  ])
    expect(findCronProblem(text)?.code, text).toBe('bad-cron')
  for (const text of ['@daily', ' 0  3 * * * ', '0 0 L * *', '0 0 * * mon#2', '0 3 * JAN-MAR sun'])
    expect(findCronProblem(text), text).toBeUndefined()
})

test('a time zone is one of the IANA database', () => {
  for (const zone of ['UTC', 'Europe/Berlin', 'America/Argentina/Buenos_Aires'])
    expect(isTimezone(zone), zone).toBe(true)
  for (const zone of ['', ' ', '+02:00', '-0200', 'Berlin', 'local', 'Europe/Berlin '])
    expect(isTimezone(zone), zone).toBe(false)
})

test('an image is a reference to one', () => {
  const digest = `sha256:${'0a'.repeat(32)}`
  for (const image of [
    'debian',
    'image/tag',
    'debian:12',
    'a/b/c:1.2_x-y',
    'localhost/x',
    'localhost:5000/x/y:z',
    `registry.example.org:5000/x@${digest}`,
    `x:1@${digest}`,
    'a__b/c-d.e',
    '[::1]:5000/x',
  ])
    expect(findImageProblem(image), image).toBeUndefined()
  for (const image of [
    '',
    'A',
    'a b',
    'a:',
    ':a',
    'a:b:c',
    'a/',
    '/a',
    'a//b',
    'a@x',
    'a@sha256:12',
    '-a',
    'a-',
    'a..b',
    'a___b',
    'ex_ample.org/a',
    'a:-b',
    `a:${'b'.repeat(129)}`,
    'a'.repeat(256),
    'http://a/b',
  ])
    expect(findImageProblem(image), image).toBeDefined()
})

test('a command is split as a shell would, and nothing in it is replaced', () => {
  const words = (text: string) => splitCommand(text).words
  expect(words('make  pdf\tall')).toEqual(['make', 'pdf', 'all'])
  expect(words(`a 'b c' "d e" f\\ g 'h'"i" ''`)).toEqual(['a', 'b c', 'd e', 'f g', 'hi', ''])
  expect(words(`"a\\"b\\\\c\\d" '\\'`)).toEqual(['a"b\\c\\d', '\\'])
  expect(words('  ')).toEqual([])
  expect(words('echo $HOME *')).toEqual(['echo', '$HOME', '*'])
  expect(splitCommand(`a 'b`)).toMatchObject({ openQuote: 2 })
  expect(splitCommand(`a "b\\"`)).toMatchObject({ openQuote: 2 })
})

test('what only a shell understands is noticed, and what it would leave alone is not', () => {
  const sign = (text: string) => splitCommand(text).shellSign?.sign
  for (const text of [
    'a | b',
    'a && b',
    'a & ',
    'a; b',
    'a > b',
    'a < b',
    'a *.c',
    'a $B',
    'a "$B"',
    ['a $', '{b}'].join(''),
    'a $(b)',
    'a `b`',
    'a ~/b',
  ])
    expect(sign(text), text).toBeDefined()
  for (const text of [
    `a '|'`,
    `a "|;&>"`,
    `a '$B'`,
    'a \\$B',
    'a "\\$B"',
    'a b~',
    'a 5$',
    'a x?y=1&z=2',
    'a a;b',
    'a~1',
  ])
    expect(sign(text), text).toBeUndefined()
})

test('JSON is what the parser of the language takes', () => {
  const near = fc.array(
    fc.constantFrom(
      '{',
      '}',
      '[',
      ']',
      ',',
      ':',
      '"',
      'a',
      '\\',
      'n',
      'u00e9',
      '1',
      '0',
      '-',
      '.',
      'e',
      'true',
      'null',
      ' ',
      '\n',
      '\t',
      '/',
    ),
    { maxLength: 14 },
  )
  const texts = fc.oneof(
    fc.json(),
    near.map((parts) => parts.join('')),
    fc.json().chain((text) => fc.nat(text.length).map((at) => text.slice(0, at) + text.slice(at + 1))),
  )
  fc.assert(
    fc.property(texts, (text) => {
      const isJson = (() => {
        try {
          JSON.parse(text)
          return true
        } catch {
          return false
        }
      })()
      expect(findJsonProblem(text) === undefined).toBe(isJson)
    }),
    { numRuns: 1500 },
  )
})

test('a key is read as it was written', () => {
  expect(formatKey({ archive: 'My-Project', rev: 12, name: 'index' })).toBe('My-Project@12:index')
  expect(parseKey('a@b:c@12:index#7')).toEqual({ archive: 'a@b:c', rev: 12, name: 'index', run: '7' })
  expect(parseKey('index')).toBeUndefined()
  fc.assert(
    fc.property(
      fc.string({ minLength: 1 }),
      fc.oneof(fc.nat(), fc.constantFrom('1a2b3c', '00ff')),
      fc.constantFrom('index', 'build.PDF-2'),
      fc.option(fc.constantFrom('7', '2026-11-16T03:00Z'), { nil: undefined }),
      (archive, rev, name, run) => {
        const key = formatKey({ archive, rev, name, run })
        expect(parseKey(key)).toEqual({ archive, rev, name, run })
        expect(nameOfTask(toEngineKey(key))).toBe(key)
      },
    ),
  )
})

test('the word that was meant is near', () => {
  const keys = ['name', 'depends', 'cancels', 'command', 'script', 'timeout', 'retries']
  const meant = (word: string) => nearest(word, keys)
  expect(
    ['depnds', 'Depends', 'dpeends', 'cancel', 'cmd', 'comand', 'retires', 'time-out', 'x', 'build', ''].map(meant),
  ).toEqual([
    'depends',
    'depends',
    'depends',
    'cancels',
    undefined,
    'command',
    'retries',
    'timeout',
    undefined,
    undefined,
    undefined,
  ])
})
