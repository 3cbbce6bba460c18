import { expect, test } from 'vitest'
import { type DiffLine, diffLines, linesOf, toHunks } from './diff-lines.ts'

const write = (lines: readonly DiffLine[]) => lines.map(({ sign, text }) => `${sign}${text}`)
const side = (lines: readonly DiffLine[], without: '+' | '-') =>
  lines.filter(({ sign }) => sign !== without).map(({ text }) => text)

test('equal texts have no difference', () => {
  expect(write(diffLines('a\nb\n', 'a\nb\n'))).toEqual([' a', ' b'])
  expect(diffLines('', '')).toEqual([])
})

test('the fewest lines are added and removed, and each has its numbers', () => {
  const found = diffLines('a\nb\nc\na\nb\nb\na\n', 'c\nb\na\nb\na\nc\n')
  expect(found.filter(({ sign }) => sign !== ' ').length).toBe(5)
  expect(side(found, '+')).toEqual(['a', 'b', 'c', 'a', 'b', 'b', 'a'])
  expect(side(found, '-')).toEqual(['c', 'b', 'a', 'b', 'a', 'c'])
  expect(diffLines('a\nx\nb', 'a\nb\ny')).toEqual([
    { sign: ' ', text: 'a', before: 1, after: 1 },
    { sign: '-', text: 'x', before: 2 },
    { sign: ' ', text: 'b', before: 3, after: 2 },
    { sign: '+', text: 'y', after: 3 },
  ])
})

test('a file that came or went is added or removed as a whole', () => {
  expect(write(diffLines('', 'a\nb\n'))).toEqual(['+a', '+b'])
  expect(write(diffLines('a\nb\n', ''))).toEqual(['-a', '-b'])
})

test('the ends of lines do not count, nor does a missing last one', () => {
  expect(write(diffLines('a\r\nb\r\n', 'a\nb'))).toEqual([' a', ' b'])
  expect(linesOf('a\n\n')).toEqual(['a', ''])
})

test('both texts can be read from every difference, whatever they are', () => {
  let seed = 7
  const random = (most: number) => {
    seed = (seed * 48_271) % 2_147_483_647
    return seed % most
  }
  const text = () => Array.from({ length: random(14) }, () => 'abc'[random(3)]).join('\n')
  for (let i = 0; i < 500; i += 1) {
    const [before, after] = [text(), text()]
    const found = diffLines(before, after)
    expect(side(found, '+')).toEqual(linesOf(before))
    expect(side(found, '-')).toEqual(linesOf(after))
    expect(found.length).toBeLessThanOrEqual(linesOf(before).length + linesOf(after).length)
  }
})

test('texts without anything in common are not searched for long', () => {
  const lines = (name: string) => Array.from({ length: 3000 }, (_, i) => `${name} ${i}`).join('\n')
  const found = diffLines(lines('old'), lines('new'), 100)
  expect(found.length).toBe(6000)
  expect(found[0]?.sign).toBe('-')
  expect(found.at(-1)?.sign).toBe('+')
})

test('hunks leave out what is far from every change, and say how much', () => {
  const before = Array.from({ length: 30 }, (_, i) => `line ${i}`)
  const after = before.map((line, i) => (i === 10 || i === 25 ? `${line}!` : line))
  const hunks = toHunks(diffLines(before.join('\n'), after.join('\n')))
  expect(hunks.map(({ skipped, lines }) => [skipped, lines.length])).toEqual([
    [7, 8],
    [8, 8],
  ])
  expect(toHunks(diffLines('a', 'a'))).toEqual([])
})
