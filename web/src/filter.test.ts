import { expect, test } from 'vitest'
import { complete, mayConcern, quoted, quotedWord, readFilter, writeFilter } from './filter.ts'

test('a filter is taken apart and put together', () => {
  const text = 'state:failed,held scope:"archive:a b" make "two words" KIND:x'
  const terms = readFilter(text)
  expect(terms.map(({ qualifier, value }) => [qualifier, value])).toEqual([
    ['state', 'failed,held'],
    ['scope', 'archive:a b'],
    [undefined, 'make'],
    [undefined, 'two words'],
    ['kind', 'x'],
  ])
  expect(writeFilter(terms)).toBe(text)
})

test('what is not well formed is kept as it is', () => {
  for (const text of ['state:', '"open', ':', 'a:"b', '  x  ', '""', 'א:ב'])
    expect(writeFilter(readFilter(text))).toBe(text.trim())
})

test('values are quoted where they must be', () => {
  expect(['a', 'a b', 'a"b'].map(quoted)).toEqual(['a', '"a b"', '"a\\"b"'])
  expect(['a', 'a b', 'a:b'].map(quotedWord)).toEqual(['a', '"a b"', '"a:b"'])
})

const qualifiers = [
  { name: 'state', hint: 'what it is in', values: ['failed', 'held', 'running'] },
  { name: 'scope', hint: 'where it belongs', values: ['archive:My Project'] },
]

test('names and values are completed', () => {
  expect(complete('s', qualifiers).map(({ text }) => text)).toEqual(['state:', 'scope:'])
  expect(complete('state:f', qualifiers)).toEqual([{ text: 'state:failed', hint: 'what it is in', isWhole: true }])
  expect(complete('state:failed,h', qualifiers).map(({ text }) => text)).toEqual(['state:failed,held'])
  expect(complete('scope:my', qualifiers).map(({ text }) => text)).toEqual(['scope:"archive:My Project"'])
  expect(complete('fail', qualifiers).map(({ text }) => text)).toEqual(['state:failed'])
  expect(complete('nothing', qualifiers)).toEqual([])
})

const happened = { scope: 'archive:a', key: '1:index', kind: 'archive.task', queue: 'default', task: '7', to: 'failed' }
const concerns = (filter: string) => mayConcern(readFilter(filter), happened)

test('what happened concerns the filters that it meets', () => {
  for (const filter of [
    '',
    'state:failed',
    'state:held,failed',
    'scope:archive:*',
    'index',
    'kind:x kind:archive.task',
    'is:stuck',
    'id:7',
  ])
    expect(concerns(filter), filter).toBe(true)
  for (const filter of ['state:held', 'scope:b*', 'other', 'queue:slow', 'id:8', 'state:failed other'])
    expect(concerns(filter), filter).toBe(false)
})
