import { expect, test } from 'vitest'
import { steady } from './steady-order.ts'

test('what was shown keeps its place, what is over goes, what is new waits', () => {
  expect(steady(['b', 'a', 'c'], ['a', 'b', 'd'])).toEqual({ shown: ['b', 'a'], newer: ['d'], isFirst: false })
})

test('where nothing is left of what was shown, what is new is shown at once', () => {
  for (const order of [undefined, [], ['gone']])
    expect(steady(order, ['new', 'newer'])).toEqual({ shown: ['new', 'newer'], newer: [], isFirst: true })
  expect(steady(['gone'], [])).toEqual({ shown: [], newer: [], isFirst: true })
})
