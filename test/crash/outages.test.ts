import { expect, test } from 'vitest'
import { type Job, outagesUnderLoad } from './outage-kit.ts'

// Short, and long enough that a busy machine renews it before others take it away.
const leaseSeconds = 9

const JOBS: readonly Job[] = [
  { leaseSeconds: 6, outages: [{ way: 'cut one', seconds: 8, phase: 0.5 }] },
  { leaseSeconds, outages: [{ way: 'kill', seconds: 10, phase: 0.95 }] },
  {
    leaseSeconds,
    outages: [
      { way: 'freeze', seconds: 4, phase: 0.05 },
      { way: 'cut', seconds: 3, phase: 0.95 },
    ],
  },
]

test('outages lose and double nothing, and fail no command that need not fail', async () => {
  expect(await outagesUnderLoad(JOBS, JOBS.length)).toEqual({})
})
