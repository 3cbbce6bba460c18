import { describe, expect, test } from 'vitest'
import { snippetOf } from './index-snippet.ts'
import { textOf, wordsOf } from './index-words.ts'

describe('the text of a file', () => {
  test('is read in whichever way it was written', () => {
    expect(textOf(Buffer.from('Mühle\n'))).toBe('Mühle\n')
    expect(textOf(Buffer.from('M\u00fchle', 'latin1'))).toBe('Mühle')
    expect(textOf(Buffer.from('\ufeffMühle', 'utf16le'))).toBe('Mühle')
    expect(textOf(Buffer.from('\ufeffMühle', 'utf16le').swap16())).toBe('Mühle')
  })

  test('may be cut in the middle of a letter', () => {
    expect(textOf(Buffer.from('Mühle').subarray(0, 2))).toBe('M')
  })

  test('has tabs, escapes and ends of lines, and nothing else that is no letter', () => {
    expect(textOf(Buffer.from('a\tb\r\n\f\u001b[31mred'))).toBeDefined()
    for (const bytes of ['a\u0000b', '\u0001', 'PK\u0003\u0004']) expect(textOf(Buffer.from(bytes))).toBeUndefined()
    expect(textOf(Buffer.from([0xff, 0xfe, 0x00, 0x00, 0x61, 0x00]))).toBeUndefined()
  })
})

test('words are runs of letters and digits, each once, without capitals', () => {
  expect([...wordsOf('The water_wheel, the WHEEL-2 of Fußweg-Straße 12.5')]).toEqual([
    'the',
    'water',
    'wheel',
    '2',
    'of',
    'fußweg',
    'straße',
    '12',
    '5',
  ])
  expect([...wordsOf('e\u0301t\u00e9 \u00c9T\u00c9')]).toEqual(['\u00e9t\u00e9'])
  expect([...wordsOf('水車 سلام')]).toEqual(['水車', 'سلام'])
  expect([...wordsOf('x'.repeat(101))]).toEqual([])
})

describe('a snippet', () => {
  test('is the first line with one of the words, whole words only', () => {
    const text = 'waterfall\r\nno\rthe Water mill\nwater\n'
    expect(snippetOf(text, new Set(['water']))).toEqual({ line: 3, text: 'the Water mill' })
    expect(snippetOf(text, new Set(['water*']))).toEqual({ line: 1, text: 'waterfall' })
    expect(snippetOf(text, new Set(['fire']))).toBeNull()
  })

  test('of a long line is the part with the word, and never half a letter', () => {
    const { text = '' } = snippetOf(`${'😀'.repeat(500)} needle ${'😀'.repeat(500)}`, new Set(['needle'])) ?? {}
    expect(text).toContain('needle')
    expect(text.length).toBeLessThanOrEqual(200)
    expect(() => encodeURIComponent(text)).not.toThrow()
  })
})
