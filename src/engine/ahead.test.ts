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
    pass(500)
    seen.push(ahead.tasks)
  }
  expect(seen).toEqual([40, 160, 640, 1000, 1000])
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
