import { expect, test } from 'vitest'
import { removalLimit, removalOf } from './removal.ts'

const rows = (count: number) => Array.from({ length: count }, (_, i) => ({ id: String(i + 1), summary: 'make' }))

test('the question before a removal names what it takes away', () => {
  expect(removalOf(rows(1))).toEqual({ objects: ['1 make'], isCut: false, words: 'node 1' })
  expect(removalOf(rows(3))).toMatchObject({ isCut: false, words: '3 nodes' })
})

test('of more nodes than are asked for it says that there are more', () => {
  const all = rows(5000).slice(0, removalLimit(true))
  expect(removalOf(all)).toMatchObject({ isCut: true, words: 'more than 1000 nodes' })
  expect(removalOf(all).objects).toHaveLength(1000)
  expect(removalOf(rows(1000))).toMatchObject({ isCut: false, words: '1000 nodes' })
})
