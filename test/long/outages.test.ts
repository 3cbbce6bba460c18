import { expect, test } from 'vitest'
import { type Job, outagesUnderLoad } from '../crash/outage-kit.ts'

const WAYS = ['kill', 'freeze', 'cut', 'cut one'] as const
/** The longest first, since they decide when all have ended. */
const SECONDS = [90, 40, 25, 15, 5]
const FLEETS = 5

/** The fleet's servers have phases of their own besides: they start at different moments. */
const PHASES = [0.05, 0.5, 0.95]
const phasesFor = (seconds: number) => (seconds > 30 ? [PHASES[0], PHASES[2]] : PHASES) as number[]

const JOBS: Job[] = SECONDS.flatMap((seconds) =>
  WAYS.map((way, i) => ({
    leaseSeconds: 30,
    outages: phasesFor(seconds).map((phase) => ({ way, seconds, phase: (phase + i / 10) % 1 })),
  })),
)

test('outages of 5 to 90 seconds lose and double nothing, and fail no command that need not fail', async () => {
  expect(await outagesUnderLoad(JOBS, FLEETS)).toEqual({})
})
