import { expect, test } from 'vitest'
import { codeFrame } from './code-frame.ts'

const text = 'one\ntwo: x\nthree\nfour\nfive\nsix\n'

test('a frame has the line that is meant, two around it, and points at the place', () => {
  const frame = codeFrame(text, { line: 2, column: 6, endLine: 2, endColumn: 7 })
  expect(frame?.lines.map(({ number, isMeant }) => (isMeant ? `>${number}` : `${number}`))).toEqual([
    '1',
    '>2',
    '3',
    '4',
  ])
  expect(frame).toMatchObject({ indent: 5, length: 1 })
})

test('what ends on another line or behind the text points at one character at least', () => {
  expect(codeFrame(text, { line: 3, column: 2, endLine: 5, endColumn: 1 })).toMatchObject({ indent: 1, length: 1 })
  expect(codeFrame(text, { line: 6, column: 40 })).toMatchObject({ indent: 3, length: 1 })
})

test('a line that is not there has no frame', () => {
  expect(codeFrame(text, { line: 7, column: 1 })).toBeUndefined()
})
