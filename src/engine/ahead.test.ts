import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { Ahead } from './ahead.ts'
import { Pace } from './pace.ts'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance'] })
})
afterEach(() => vi.useRealTimers())
const pass = (ms: number) => vi.advanceTimersByTime(ms)

/** So many tasks at once, each of which takes that long. */
function work(of: Pick<Ahead, 'began' | 'ended'>, count: number, ms: number): void {
  of.began()
  pass(ms)
  for (let left = count; left > 0; left -= 1) of.ended(left === 1)
}

test('of tasks that are over as soon as they come more and more are claimed ahead, however long the database takes', () => {
  const ahead = new Ahead(10, 1000)
  const seen = []
  for (let round = 0; round < 5; round += 1) {
    work(ahead, 10, 0)
    ahead.claimed(true)
    pass(500)
    seen.push(ahead.tasks)
  }
  expect(seen).toEqual([40, 160, 640, 1000, 1000])
})

/** One that knows that its tasks are over at once. */
function aQuickOne(): Ahead {
  const ahead = new Ahead(10, 800)
  for (let round = 0; round < 5; round += 1) {
    work(ahead, 10, 0)
    void ahead.tasks
  }
  return ahead
}

/** What is claimed ahead after so many claims that were filled. */
function afterFilled(ahead: Ahead, claims: number): number {
  for (let claim = 0; claim < claims; claim += 1) {
    work(ahead, 10, 0)
    ahead.claimed(true)
  }
  return ahead.tasks
}

test('more than 500 are claimed ahead after three claims that were filled, and less again after one that was not', () => {
  const ahead = aQuickOne()
  expect(afterFilled(ahead, 2)).toBe(500)
  expect(afterFilled(ahead, 1)).toBe(800)
  ahead.claimed(false)
  expect(ahead.tasks).toBe(500)
})

test('where large claims were not filled they come back later and later; where they were, as soon as at first', () => {
  const ahead = aQuickOne()
  const untilLarge = () => {
    for (let claims = 1; claims < 1000; claims += 1) if (afterFilled(ahead, 1) === 800) return claims
    return undefined
  }
  const seen = []
  for (let round = 0; round < 9; round += 1) {
    seen.push(untilLarge())
    ahead.claimed(false)
  }
  expect(seen).toEqual([3, 6, 12, 24, 48, 96, 192, 192, 192])
  expect(untilLarge()).toBe(192)
  afterFilled(ahead, 8)
  ahead.claimed(false)
  expect(untilLarge()).toBe(3)
})

test('of long tasks none is claimed ahead, of others as many as begin within 25 ms', () => {
  const ahead = new Ahead(10, 1000)
  work(ahead, 10, 10_000)
  expect(ahead.tasks).toBe(0)
  work(ahead, 10, 10)
  expect(ahead.tasks).toBe(25)
})

test('tasks that turn out long are not claimed ahead any more', () => {
  const ahead = new Ahead(10, 1000)
  work(ahead, 10, 0)
  expect(ahead.tasks).toBe(40)
  ahead.began()
  pass(100)
  expect(ahead.tasks).toBe(0)
  work(ahead, 10, 0)
  ahead.slowed()
  expect(ahead.tasks).toBe(0)
})

test.each([7, 8])('of %i places two steps take turns with half of them each', (concurrency) => {
  const pace = new Pace(concurrency, 0)
  expect(pace.room(pace.batch)).toBeGreaterThanOrEqual(pace.batch)
})

test('a step that only hands back does not end the taking of turns', () => {
  const pace = new Pace(2, 0)
  const place = { lane: 1, priority: 0, readyOrder: '1' }
  pace.stepped([place, place], 2, pace.scan([1], false))
  pace.stepped([], -1, pace.scan([1], false))
  expect(pace.isSaturated).toBe(true)
  pace.stepped([], 2, pace.scan([1], false))
  expect(pace.isSaturated).toBe(false)
})
