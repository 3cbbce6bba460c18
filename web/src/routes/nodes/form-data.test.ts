import { expect, test } from 'vitest'
import { chainOf, changesOf, dataOf, filledOf, type Node, parseExact } from './form-data.ts'

function form(given: Record<string, string>): FormData {
  const data = new FormData()
  for (const [name, value] of Object.entries(given)) data.set(name, value)
  return data
}

test('a form becomes data: arguments by lines, variables, and what is empty left out', () => {
  const given = form({
    command: 'make',
    args: '-j 4\nall',
    env: 'A=1=2\n\nB=',
    cwd: '',
    timeout: '5m',
    more: '{"n":1}',
  })
  expect(dataOf(given)).toEqual({
    command: 'make',
    args: ['-j 4', 'all'],
    env: { A: '1=2', B: '' },
    timeout: '5m',
    n: 1,
  })
  expect(dataOf(form({ seconds: '1.5' }))).toEqual({ seconds: 1.5 })
})

test('what cannot be meant is said', () => {
  expect(() => dataOf(form({ seconds: 'soon' }))).toThrow('not a number of seconds')
  expect(() => dataOf(form({ env: 'PATH' }))).toThrow('NAME=VALUE')
  expect(() => dataOf(form({ more: '[1]' }))).toThrow('must be an object')
  expect(() => parseExact('{"id": 12345678901234567890}')).toThrow('more digits than a browser keeps')
  expect(parseExact('{"id": "12345678901234567890", "n": 9007199254740991}')).toMatchObject({ n: 9007199254740991 })
})

test('an edit sends what has changed, and null for what was taken out', () => {
  const before = dataOf(form({ command: 'make', args: 'all', timeout: '5m' }))
  const after = dataOf(form({ command: 'make', args: 'test' }))
  expect(changesOf(before, after)).toEqual({ args: ['test'], timeout: null })
})

test('the data of a node fills the form that makes the same data', () => {
  const data = { command: 'make', args: ['a b', 'c'], env: { A: '1' }, timeout: 30 }
  const node = { id: '1', metadata: {}, data } as unknown as Node
  expect(dataOf(form(filledOf(node)))).toEqual(data)
})

test('a chain runs each line after the one before', () => {
  expect(chainOf('make\n\nmake test', '7').map(({ metadata }) => metadata.parent)).toEqual(['7', '#0'])
})
