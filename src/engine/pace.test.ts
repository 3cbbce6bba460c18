import { expect, test } from 'vitest'
import { Pace } from './pace.ts'

const claimed = (priority: number, order: number, lane = 1) => ({ lane, priority, readyOrder: String(order) })

/** A pace that has claimed these, for which looking from the start has become slow. */
function slowPace(...rows: ReturnType<typeof claimed>[]): Pace {
  const pace = new Pace(10, 0)
  const longAgo = { ...pace.scan([1], true), begunAt: performance.now() - 60_000 }
  expect(longAgo.isBack).toBe(true)
  pace.stepped(rows, 100, longAgo)
  return pace
}

test('a look from the start that took long is not made again before twenty times that long is over', () => {
  const pace = slowPace(claimed(0, 7))
  expect(pace.scan([1], true)).toMatchObject({ isBack: false, isComplete: true })
  expect(pace.scan([1], false)).toMatchObject({
    isBack: false,
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

const BEGINNING = {
  gone: '1000000',
  marks: [
    [1, 0, '70000000'],
    [1, 5, '40000000'],
    [2, 0, '60000000'],
  ],
} as const

test('one that begins where others were looks behind their marks, and at a slice of what lies before', () => {
  const pace = new Pace(10, 0)
  pace.begin(BEGINNING)
  expect(pace.scan([1, 2], false)).toMatchObject({
    isBack: true,
    isComplete: true,
    lanes: [1, 1, 1, 2, 2],
    fromPriorities: [-(2 ** 31), 0, 5, -(2 ** 31), 0],
    fromOrders: ['0', '70000000', '40000000', '0', '60000000'],
    slices: {
      slice_lanes: [1, 1, 2],
      slice_priority: [0, 5, 0],
      slice_from: '0',
      slice_to: Array.from({ length: 3 }, () => String((70_000_000 / 1_000_000) * 10_000)),
    },
  })
})

test('slice after slice, every place before the marks is looked at', () => {
  const pace = new Pace(10, 0)
  pace.begin(BEGINNING)
  const missed = new Set([7, 699_999, 700_000, 700_001, 39_999_999, 40_000_000])
  const later = new Set([40_000_001, 69_999_999, 70_000_000])
  for (let i = 0; i < 200 && missed.size + later.size > 0; i += 1) {
    const scan = pace.scan([1, 2], true)
    const slices = scan.slices
    if (slices === undefined) continue
    const from = Number(slices.slice_from)
    const isIn = (order: number, priority: number) =>
      slices.slice_to.some(
        (to, n) =>
          slices.slice_lanes[n] === 1 && slices.slice_priority[n] === priority && order > from && order <= Number(to),
      )
    for (const order of missed) if (isIn(order, 0) && isIn(order, 5)) missed.delete(order)
    // Farther than the other priority was claimed.
    for (const order of later) if (isIn(order, 0) && !isIn(order, 5)) later.delete(order)
    pace.stepped([], 100, { ...scan, begunAt: performance.now() })
  }
  expect([...missed, ...later]).toEqual([])
})

test('of steps at once only one looks back', () => {
  const pace = new Pace(10, 0)
  pace.begin(BEGINNING)
  expect(pace.scan([1], false).isBack).toBe(true)
  expect(pace.scan([1], false).isBack).toBe(false)
})

test('it tells how far it has claimed, and the first that it has not begun', () => {
  const pace = new Pace(10, 0)
  expect(pace.reached([])).toBeNull()
  pace.stepped([claimed(0, 7), claimed(0, 9), claimed(0, 12), claimed(3, 2)], 100, pace.scan([1], true))
  expect(JSON.parse(pace.reached([claimed(0, 12), claimed(0, 9), claimed(0, 1, 2)]) ?? '')).toEqual([
    [1, 0, '12', '9'],
    [1, 3, '2', null],
  ])
})

test('while slices are left to look at, one that has nothing to do goes on with them', () => {
  const pace = new Pace(10, 0)
  for (let n = 0; n < 10; n += 1) pace.nextPollMs(true)
  expect(pace.nextPollMs(true)).toBe(1000)
  pace.begin(BEGINNING)
  expect(pace.nextPollMs(true)).toBe(50)
})

/** The next look back: it is not made before it may take of the time. */
function lookBack(pace: Pace): ReturnType<Pace['scan']> {
  for (;;) {
    const scan = pace.scan([1], true)
    if (scan.isBack) return scan
  }
}

test('a step that claims nothing has looked at no slice', () => {
  const pace = new Pace(10, 0)
  pace.begin(BEGINNING)
  const first = lookBack(pace)
  pace.stepped([], 0, first)
  expect(lookBack(pace).slice).toEqual(first.slice)
})

test('a slice in which there is more than there was room for is looked at again', () => {
  const pace = new Pace(10, 0)
  pace.begin(BEGINNING)
  const first = lookBack(pace)
  pace.stepped([claimed(0, 6), claimed(0, 7)], 2, first)
  const second = lookBack(pace)
  expect(second.slice).toEqual(first.slice)
  pace.stepped([claimed(0, 8)], 2, second)
  expect(lookBack(pace).slice?.from).toBe(first.slice?.to)
})
