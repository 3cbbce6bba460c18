import { expect, test } from 'vitest'
import { Pace } from './pace.ts'

const claimed = (priority: number, order: number, lane = 1) => ({ lane, priority, readyOrder: String(order) })

/** A pace that has claimed these, for which looking from the start has become slow. */
function slowPace(...rows: ReturnType<typeof claimed>[]): Pace {
  const pace = new Pace(10, 0)
  const longAgo = { ...pace.scan([1], true), begunAt: performance.now() - 60_000 }
  expect(longAgo.isFull).toBe(true)
  pace.stepped(rows, 100, longAgo)
  return pace
}

test('a look from the start that took long is not made again before twenty times that long is over', () => {
  const pace = slowPace(claimed(0, 7))
  expect(pace.scan([1], true)).toMatchObject({ isFull: false, isComplete: true })
  expect(pace.scan([1], false)).toMatchObject({
    isFull: false,
    isComplete: false,
    fromPriorities: [0],
    fromOrders: ['7'],
  })
})

test('a complete look begins, for each priority, behind the last task claimed of it, and leaves none out', () => {
  const pace = slowPace(claimed(-5, 20), claimed(0, 7), claimed(0, 9), claimed(3, 2))
  expect(pace.scan([1], true)).toMatchObject({
    lanes: [1, 1, 1, 1],
    fromPriorities: [-(2 ** 31), -5, 0, 3],
    fromOrders: ['0', '20', '9', '2'],
    toPriorities: [-6, -1, 2, 2 ** 31 - 1],
  })
})

test('a task that committed late does not draw the look back over what is gone', () => {
  const pace = slowPace(claimed(0, 50))
  pace.stepped([claimed(0, 30)], 100, pace.scan([1], false))
  expect(pace.scan([1], true)).toMatchObject({ fromOrders: ['0', '50'] })
})

test('of very many priorities only some are remembered, and the rest is looked at from its start', () => {
  const pace = slowPace(...Array.from({ length: 40 }, (_, i) => claimed(i, i)))
  const { fromPriorities, toPriorities } = pace.scan([1], true)
  expect(fromPriorities.slice(1)).toEqual(Array.from({ length: 16 }, (_, i) => i + 24))
  expect(toPriorities?.[0]).toBe(23)
})
