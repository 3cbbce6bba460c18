import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { Pace } from './pace.ts'

// The clock stands still unless a test moves it: how long a look takes decides what the next one is.
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance'] })
  pass(1000)
})
afterEach(() => vi.useRealTimers())
const pass = (ms: number) => vi.advanceTimersByTime(ms)

const claimed = (priority: number, order: number, lane = 1) => ({ lane, priority, readyOrder: String(order) })

/** A pace that has claimed these, for which looking from the start has become slow. */
function slowPace(...rows: ReturnType<typeof claimed>[]): Pace {
  const pace = new Pace(10, 0)
  const scan = pace.scan([1], true)
  expect(scan.isBack).toBe(true)
  pass(SLOW_MS)
  pace.stepped(rows, 100, scan)
  return pace
}
const SLOW_MS = 60_000

test('a look from the start that took long is not made again before twenty times that long is over', () => {
  const pace = slowPace(claimed(0, 7))
  pass(SLOW_MS * 20 - 1)
  expect(pace.scan([1], true)).toMatchObject({ isBack: false, isComplete: true })
  expect(pace.scan([1], false)).toMatchObject({
    isBack: false,
    isComplete: false,
    fromPriorities: [0],
    fromOrders: ['7'],
  })
  pass(1)
  expect(pace.scan([1], false).isBack).toBe(true)
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

test('slice after slice, every place before the marks is looked at in one round', () => {
  const pace = new Pace(10, 0)
  pace.begin(BEGINNING)
  const missed = new Set([7, 699_999, 700_000, 700_001, 39_999_999, 40_000_000])
  const later = new Set([40_000_001, 69_999_999, 70_000_000])
  let looked = 0
  for (let i = 0; looked < 70_000_000; i += 1) {
    const scan = lookBack(pace, [1, 2])
    const slices = scan.slices as NonNullable<typeof scan.slices>
    looked = scan.slice?.to as number
    const from = Number(slices.slice_from)
    const isIn = (order: number, priority: number) =>
      slices.slice_to.some(
        (to, n) =>
          slices.slice_lanes[n] === 1 && slices.slice_priority[n] === priority && order > from && order <= Number(to),
      )
    for (const order of missed) if (isIn(order, 0) && isIn(order, 5)) missed.delete(order)
    // Farther than the other priority was claimed.
    for (const order of later) if (isIn(order, 0) && !isIn(order, 5)) later.delete(order)
    pass(i % 30) // longer and shorter than a slice is meant to take
    pace.stepped([], 100, scan)
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

/** The next look back, once enough time has passed for it. */
function lookBack(pace: Pace, lanes = [1]): ReturnType<Pace['scan']> {
  pass(1000)
  const scan = pace.scan(lanes, true)
  expect(scan.isBack).toBe(true)
  return scan
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

test('what came back is looked for from its place on, in its own line alone', () => {
  const pace = slowPace(claimed(0, 7), claimed(0, 50), claimed(3, 20), claimed(3, 40), claimed(3, 9, 2))
  pace.reopen([claimed(0, 30), claimed(3, 21), claimed(3, 25), claimed(5, 3), claimed(3, 12, 2)])
  expect(pace.scan([1, 2], true)).toMatchObject({
    lanes: [1, 1, 1, 2, 2],
    fromPriorities: [-(2 ** 31), 0, 3, -(2 ** 31), 3],
    fromOrders: ['0', '29', '20', '0', '9'],
  })
  expect(pace.scan([1, 2], false)).toMatchObject({ fromPriorities: [0, 3], fromOrders: ['29', '9'] })
})
