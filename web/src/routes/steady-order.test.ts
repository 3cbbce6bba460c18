import { expect, test } from 'vitest'
import { steady } from './steady-order.ts'

test('what was shown keeps its place, resolved or not, and what is new waits', () => {
  expect(steady(['b', 'a', 'c'], ['a', 'b', 'd'])).toEqual({
    shown: ['b', 'a', 'c'],
    gone: ['c'],
    newer: ['d'],
    isFirst: false,
  })
})

test('when all that was shown is resolved, what is new is shown at once', () => {
  for (const order of [undefined, [], ['gone']])
    expect(steady(order, ['new', 'newer'])).toEqual({ shown: ['new', 'newer'], gone: [], newer: [], isFirst: true })
  expect(steady(['gone'], [])).toEqual({ shown: [], gone: [], newer: [], isFirst: true })
})
