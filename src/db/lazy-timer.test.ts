import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { LazyTimer } from './lazy-timer.ts'

const onDue = vi.fn()
const timer = new LazyTimer(onDue)

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout'] })
})
afterEach(() => {
  timer.close()
  onDue.mockClear()
  vi.useRealTimers()
})

test('comes due once, at its time', () => {
  timer.set(10)
  vi.advanceTimersByTime(9)
  expect(onDue).not.toHaveBeenCalled()
  vi.advanceTimersByTime(1)
  expect(onDue).toHaveBeenCalledOnce()
  vi.advanceTimersByTime(1000)
  expect(onDue).toHaveBeenCalledOnce()
})

test('set anew it comes due at its new time, be that later or earlier', () => {
  timer.set(10)
  vi.advanceTimersByTime(8)
  timer.set(10)
  vi.advanceTimersByTime(9)
  expect(onDue).not.toHaveBeenCalled()
  vi.advanceTimersByTime(1)
  expect(onDue).toHaveBeenCalledOnce()
  timer.set(1000)
  timer.set(10)
  vi.advanceTimersByTime(10)
  expect(onDue).toHaveBeenCalledTimes(2)
})

test('called off it does not come due, and can be set again', () => {
  timer.set(10)
  timer.callOff()
  vi.advanceTimersByTime(5)
  timer.set(10)
  vi.advanceTimersByTime(9)
  expect(onDue).not.toHaveBeenCalled()
  vi.advanceTimersByTime(1)
  expect(onDue).toHaveBeenCalledOnce()
})

test('set a thousand times within its time, the system is asked for one timer, and has none after the end', () => {
  const asked = vi.spyOn(globalThis, 'setTimeout')
  for (let i = 0; i < 1000; i += 1) timer.set(10)
  expect(asked).toHaveBeenCalledOnce()
  expect(vi.getTimerCount()).toBe(1)
  timer.close()
  expect(vi.getTimerCount()).toBe(0)
})
