import { expect, test } from 'vitest'
import { isLetterKey, type KeyGroup, KeyReader, nameOf, type Press } from './keys.ts'

const press = (key: string, more: Partial<Press> = {}): Press => ({
  key,
  code: '',
  isMod: false,
  isAlt: false,
  ...more,
})
const group = (title: string, ...keys: readonly string[]): KeyGroup => ({
  title,
  keys: keys.map((key) => ({ key, label: `${title} ${key}`, run: () => undefined })),
})
const at = (now: number, hasLetters = true) => ({ now, hasLetters })

test('a key of the screen comes before the same key of the shell', () => {
  const groups = [group('shell', 'r', '?'), group('screen', 'r')]
  const reader = new KeyReader()
  expect(reader.read(press('r'), groups, at(0))?.label).toBe('screen r')
  expect(reader.read(press('?'), groups, at(0))?.label).toBe('shell ?')
  expect(reader.read(press('q'), groups, at(0))).toBeUndefined()
})

test('two keys in a row are one command, when the second comes soon enough', () => {
  const groups = [group('shell', 'g t'), group('screen', 't')]
  const reader = new KeyReader()
  expect(reader.read(press('g'), groups, at(0))).toBeUndefined()
  expect(reader.read(press('t'), groups, at(1_000))?.label).toBe('shell g t')
  expect(reader.read(press('g'), groups, at(2_000))).toBeUndefined()
  expect(reader.read(press('t'), groups, at(9_000))?.label).toBe('screen t')
})

test('with letters turned off only named keys and those with Ctrl are left', () => {
  const groups = [group('shell', 'g t', 'r', 'Mod+k', 'ArrowDown')]
  const reader = new KeyReader()
  expect(reader.read(press('r'), groups, at(0, false))).toBeUndefined()
  expect(reader.read(press('g'), groups, at(0, false))).toBeUndefined()
  expect(reader.read(press('t'), groups, at(1, false))).toBeUndefined()
  expect(reader.read(press('K', { isMod: true }), groups, at(2, false))?.label).toBe('shell Mod+k')
  expect(reader.read(press('ArrowDown'), groups, at(3, false))?.label).toBe('shell ArrowDown')
  expect(['r', '?', 'g t', 'Mod+k', 'Enter'].map(isLetterKey)).toEqual([true, true, true, false, false])
})

test('the browser keeps what is pressed with Alt, and a letter with Ctrl is not the letter', () => {
  const groups = [group('shell', 'r')]
  const reader = new KeyReader()
  expect(reader.read(press('r', { isAlt: true }), groups, at(0))).toBeUndefined()
  expect(reader.read(press('r', { isMod: true }), groups, at(0))).toBeUndefined()
})

test('on a Cyrillic keyboard the place of the letter counts', () => {
  expect(nameOf(press('п', { code: 'KeyG' }))).toBe('g')
  expect(nameOf(press('?', { code: 'Digit7' }))).toBe('?')
})
