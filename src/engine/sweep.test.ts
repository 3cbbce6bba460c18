import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Slice, Sweep } from './sweep.ts'

const REACH = 2_000_000

/** A sweep for which looking at all took that long. */
function sliced(reach = REACH): Sweep {
  const sweep = new Sweep()
  sweep.looked(undefined, 5_000, reach)
  return sweep
}

/** One round from the start, each slice of which takes as long as it is told. */
function round(sweep: Sweep, msOf: (slice: Slice) => number, reach = REACH): Slice[] {
  const slices: Slice[] = []
  for (;;) {
    const slice = sweep.next(reach)
    if (slice === undefined) return slices
    sweep.looked(slice, msOf(slice), reach)
    slices.push(slice)
    if (slice.to >= reach) return slices
  }
}

describe('what lies before the marks', () => {
  test('is looked through at once while that is quick, or there is little of it', () => {
    const sweep = new Sweep()
    expect(sweep.next(REACH)).toBeUndefined()
    sweep.looked(undefined, 3, REACH)
    expect(sweep.next(REACH)).toBeUndefined()
    sweep.looked(undefined, 500, 9_000)
    expect(sweep.next(9_000)).toBeUndefined()
  })

  test('is looked through in slices that leave nothing out, whatever each of them takes', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 100 }), { minLength: 1, maxLength: 50 }), (times) => {
        const sweep = sliced()
        let n = 0
        for (let rounds = 0; rounds < 3 && sweep.isSliced; rounds += 1) {
          const slices = round(sweep, () => times[n++ % times.length] as number)
          slices.forEach((slice, i) => {
            expect(slice.from).toBe(i === 0 ? 0 : slices[i - 1]?.to)
            expect(slice.to).toBeGreaterThanOrEqual(slice.from + 10_000)
          })
          if (slices.length > 0) expect(slices.at(-1)?.to).toBeGreaterThanOrEqual(REACH)
        }
      }),
    )
  })

  test('that is empty for long and then full is not met with slices that became too wide', () => {
    const reach = 50_000_000
    const full = reach * 0.9
    const entries = (slice: Slice) => Math.max(0, slice.to - Math.max(slice.from, full))
    const sweep = sliced(reach)
    for (const _ of ['first', 'second']) {
      const slices = round(sweep, (slice) => entries(slice) / 1_000, reach)
      expect(Math.max(...slices.map(entries))).toBeLessThanOrEqual((reach / 1_000) * 4)
    }
  })

  test('is looked through at once again when it has become quick', () => {
    const sweep = sliced()
    for (let rounds = 0; rounds < 10 && sweep.isSliced; rounds += 1) {
      round(sweep, () => 0)
      sweep.next(REACH)
    }
    expect(sweep.isSliced).toBe(false)
  })
})
