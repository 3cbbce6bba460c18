import { hostname } from 'node:os'
import { expect, test } from 'vitest'
import { toSettings } from './dispatch-options.ts'

test('what a dispatcher is not told it does as its options say', () => {
  expect(toSettings({})).toEqual({
    concurrency: 10,
    leaseSeconds: 30,
    prefetch: 800,
    maxDeaths: 5,
    stopSeconds: 30,
    fair: false,
    stepsAtOnce: 2,
    name: `${hostname()}:${process.pid}`,
  })
})

test('what a dispatcher is told it does, the least and nothing too', () => {
  const told = {
    concurrency: 1,
    leaseSeconds: 0.5,
    prefetch: 0,
    maxDeaths: 1,
    stopSeconds: 0,
    name: 'mine',
    fair: false,
    queues: ['a'],
  }
  expect(toSettings(told)).toEqual({ ...told, stepsAtOnce: 2 })
})

test('a fair dispatcher claims nothing ahead, in one step at a time', () => {
  expect(toSettings({ fair: true, prefetch: 100 })).toMatchObject({ fair: true, prefetch: 0, stepsAtOnce: 1 })
})
