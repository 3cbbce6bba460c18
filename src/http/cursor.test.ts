import { expect, test } from 'vitest'
import { z } from 'zod'
import { route } from '../api/index.ts'
import { positionOf, toPage } from './cursor.ts'

const list = route({
  method: 'GET',
  path: '/v1/things',
  name: 'things.list',
  summary: 'Test',
  access: { role: 'viewer' },
  answers: { 200: z.unknown() },
})
const position = z.tuple([z.string(), z.int()])
const page = (rows: number[], query: object = {}) =>
  toPage(list, { limit: 2, ...query }, rows, { item: (row) => `item ${row}`, position: (row) => ['a/ü', row] })

test('a page knows whether another one follows, and where it begins', () => {
  expect(page([1])).toEqual({ items: ['item 1'], next_cursor: null })
  expect(page([1, 2])).toEqual({ items: ['item 1', 'item 2'], next_cursor: null })
  const { items, next_cursor: cursor } = page([1, 2, 3])
  expect(items).toEqual(['item 1', 'item 2'])
  expect(cursor).toMatch(/^[\w-]+$/)
  expect(positionOf(list, { cursor: cursor ?? '', limit: 50 }, position)).toEqual(['a/ü', 2])
  expect(positionOf(list, {}, position)).toBeUndefined()
})

test('a cursor is tied to the list and its filters, in whatever order they are given', () => {
  const cursor = page([1, 2, 3], { state: ['ready'], kind: 'x', scope: undefined }).next_cursor ?? ''
  const good = { kind: 'x', state: ['ready'], cursor }
  expect(positionOf(list, good, position)).toEqual(['a/ü', 2])
  const refused = { code: 'cursor_mismatch' }
  for (const query of [{ cursor }, { ...good, kind: 'y' }, { ...good, scope: 's' }]) {
    expect(() => positionOf(list, query, position)).toThrow(expect.objectContaining(refused))
  }
  expect(() => positionOf({ ...list, name: 'others.list' }, good, position)).toThrow(expect.objectContaining(refused))
})

test('a forged cursor is refused', () => {
  const [filters] = JSON.parse(Buffer.from(page([1, 2, 3]).next_cursor ?? '', 'base64url').toString())
  for (const forged of [[filters], [filters, ['a', 'b']], [filters, ['a', 1.5]], ['x', ['a', 1]], {}, null, 7]) {
    const cursor = Buffer.from(JSON.stringify(forged)).toString('base64url')
    expect(() => positionOf(list, { cursor }, position)).toThrow(expect.objectContaining({ code: 'cursor_mismatch' }))
  }
  expect(() => positionOf(list, { cursor: '----' }, position)).toThrow()
})
