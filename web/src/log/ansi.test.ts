import { expect, test } from 'vitest'
import { readAnsi } from './ansi.ts'
import { readLine } from './read-line.ts'

const look = (text: string) => readAnsi(text).segments.map(({ text: shown, pen }) => [shown, pen])
const textsOf = (text: string) => readAnsi(text).segments.map((segment) => segment.text)

test('colours of 16, of 256 and true ones, until they are reset', () => {
  expect(look('a\u001b[31mb\u001b[1;92mc\u001b[0md')).toEqual([
    ['a', {}],
    ['b', { ink: 1 }],
    ['c', { ink: 10, isBold: true }],
    ['d', {}],
  ])
  expect(look('\u001b[38;5;196ma\u001b[48;5;240mb')).toEqual([
    ['a', { ink: 'rgb(255 0 0)' }],
    ['b', { ink: 'rgb(255 0 0)', ground: 'rgb(88 88 88)' }],
  ])
  expect(look('\u001b[38;2;1;2;3ma\u001b[39;48:2::4:5:6mb')).toEqual([
    ['a', { ink: 'rgb(1 2 3)' }],
    ['b', { ground: 'rgb(4 5 6)' }],
  ])
  expect(look('\u001b[1;4mx\u001b[22my')).toEqual([
    ['x', { isBold: true, isUnderlined: true }],
    ['y', { isUnderlined: true }],
  ])
})

test('numbers that are no colour change nothing', () => {
  expect(look('\u001b[38;2;999;0;0ma\u001b[38;5;256mb\u001b[38mc\u001b[75md')).toEqual([
    ['a', {}],
    ['b', {}],
    ['c', {}],
    ['d', {}],
  ])
})

test('a link leads to http and https, and nowhere else', () => {
  const link = (target: string) => look(`\u001b]8;;${target}\u001b\\here\u001b]8;;\u0007 after`)
  expect(link('https://example.org/a')).toEqual([
    ['here', { href: 'https://example.org/a' }],
    [' after', {}],
  ])
  for (const target of [
    'javascript:alert(1)',
    'data:text/html,x',
    'file:///etc/passwd',
    '//x',
    'https://[',
    ' https://x',
  ])
    expect(link(target)[0]).toEqual(['here', {}])
})

test('what moves the cursor is taken out, and what turns the direction of reading is named', () => {
  expect(textsOf('a\u001b[2Kb\u001b[10;3Hc\u001b(Bd\u001b]0;title\u0007e').join('')).toBe('abcde')
  expect(textsOf('x\u202ey\u0007z')).toEqual(['x', 'U+202E', 'y', '␇', 'z'])
})

test('every segment knows where it stood in the line as it was written', () => {
  const text = 'ab\u001b[31mcd\u001b[0mef'
  for (const { text: shown, at, length } of readAnsi(text).segments) expect(text.slice(at, at + length)).toBe(shown)
})

test('no sequence, whole or broken, is lost for ever or hangs', () => {
  for (const text of ['\u001b', '\u001b[', '\u001b]8;;', '\u001b[31', '\u001b]0;never ends'.repeat(2000)])
    expect(readAnsi(`${text}`).segments.length).toBeLessThan(5000)
})

const shown = (text: string) => {
  const { segments, folded, marks, level } = readLine(text)
  return { text: segments.map((segment) => segment.text).join(''), folded, marks: marks.map(({ is }) => is), level }
}

test('progress that overwrote itself is folded to what stood in the end', () => {
  expect(shown('10%\r50%\r100%')).toEqual({ text: '100%', folded: 2, marks: [], level: undefined })
  expect(shown('10%\r100%\r\r')).toMatchObject({ text: '100%', folded: 1 })
  expect(shown('windows\r')).toMatchObject({ text: 'windows', folded: 0 })
  const line = '\u001b[32m10%\r20%'
  const [segment] = readLine(line).segments
  expect(segment).toMatchObject({ text: '20%', at: line.indexOf('20%'), pen: { ink: 2 } })
})

test('marks of groups are read and not shown', () => {
  expect(shown('::group::Compile')).toEqual({ text: 'Compile', folded: 0, marks: ['start'], level: undefined })
  expect(shown('::endgroup::')).toMatchObject({ text: '', marks: ['end'] })
  expect(shown('##[group]Compile')).toMatchObject({ text: 'Compile', marks: ['start'] })
  expect(shown('section_start:1560896352:build[collapsed=true]\r\u001b[0KBuild it')).toMatchObject({
    text: 'Build it',
    folded: 0,
    marks: ['start'],
  })
  expect(shown('section_end:1560896353:a\r\u001b[0Ksection_start:1560896353:b\r\u001b[0KNext')).toMatchObject({
    text: 'Next',
    marks: ['end', 'start'],
  })
})

test('what a build tool says of a line is kept', () => {
  expect(shown('::error file=a.c,line=3::no such thing')).toMatchObject({ text: 'no such thing', level: 'error' })
  expect(shown('##[warning]careful')).toMatchObject({ text: 'careful', level: 'warning' })
})
