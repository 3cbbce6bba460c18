import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { z } from 'zod'
import { Run } from './run.ts'
import { Unbegun } from './unbegun.ts'
import { defineWorker } from './worker.ts'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance'] })
})
afterEach(() => {
  vi.useRealTimers()
})

const worker = defineWorker({ kind: 'test.unbegun', payload: z.unknown(), work: async () => {} })
const aRun = (id: string, deaths = 0) =>
  new Run(worker, { id, epoch: 1, failures: 0, deaths, scope: 'default', key: null, creator: null, payload: null }, 1)

test('a line that is never empty gives nothing back while each of it waits for a moment', () => {
  const unbegun = new Unbegun(5)
  let last = aRun('0')
  unbegun.push(last)
  for (let i = 1; i <= 20; i += 1) {
    vi.advanceTimersByTime(400)
    const next = aRun(String(i))
    unbegun.push(next)
    expect(unbegun.next()).toBe(last)
    expect(unbegun.takeStale(1000)).toEqual([])
    last = next
  }
})

test('all are given back once the oldest has waited for too long, a suspect or not', () => {
  for (const deaths of [0, 3]) {
    const unbegun = new Unbegun(5)
    const [old, young] = [aRun('1', deaths), aRun('2')]
    unbegun.push(old)
    vi.advanceTimersByTime(600)
    unbegun.push(young)
    vi.advanceTimersByTime(399)
    expect(unbegun.takeStale(1000)).toEqual([])
    vi.advanceTimersByTime(1)
    expect(new Set(unbegun.takeStale(1000))).toEqual(new Set([old, young]))
    expect([unbegun.size, unbegun.takeStale(0)]).toEqual([0, []])
  }
})
