import { expect, test } from 'vitest'
import type { LiveEvent } from '../../live.ts'
import { begun, behind, fits, KEPT, paused, resumed, scopesOf, withEarlier, withHeard, withNewest } from './tail.ts'

const event = (id: number, more: Partial<LiveEvent> = {}) => ({ id: String(id), ...more }) as LiveEvent
/** From the first to the last, as a stream tells them. */
const events = (first: number, last: number) => Array.from({ length: last - first + 1 }, (_, i) => event(first + i))
/** As they are read: the newest first. */
const read = (first: number, last: number, before?: number) => ({ events: events(first, last).toReversed(), before })
const ids = (tail: { events: readonly LiveEvent[] | undefined }) => tail.events?.map(({ id }) => Number(id))

test('what comes before the newest were read is shown with them', () => {
  const waiting = withHeard(begun(false), events(11, 12))
  expect(waiting.events).toBeUndefined()
  const tail = withNewest(waiting, read(8, 11, 7))
  expect(ids(tail)).toEqual([12, 11, 10, 9, 8])
  expect(ids(withHeard(tail, events(13, 14)))).toEqual([14, 13, 12, 11, 10, 9, 8])
})

test('a pause stays when events may be missing, and what is missing is read when it goes on', () => {
  const still = withHeard(behind(paused(withNewest(begun(false), read(8, 10, 7)))), events(15, 16))
  expect([ids(still), still.waiting.length, still.isPaused]).toEqual([[10, 9, 8], 2, true])
  expect(withNewest(still, read(9, 16, 8))).toBe(still)
  const going = resumed(still)
  expect([ids(going), going.isBehind]).toEqual([[10, 9, 8], true])
  expect(ids(withNewest(going, read(9, 16, 8)))).toEqual([16, 15, 14, 13, 12, 11, 10, 9, 8])
})

test('after a pause without anything missing all that waited is shown', () => {
  const still = withHeard(paused(withNewest(begun(false), read(8, 10, 7))), events(11, 12))
  const going = resumed(still)
  expect([ids(going), going.waiting, going.before]).toEqual([[12, 11, 10, 9, 8], [], 7])
})

test('where something may be missing the newest take the place of what they do not meet', () => {
  const tail = behind(withNewest(begun(false), read(8, 10, 7)))
  expect(ids(tail)).toEqual([10, 9, 8])
  // What comes meanwhile is newer than a gap: it is no bridge over it.
  const heard = withHeard(tail, events(51, 51))
  expect(ids(heard)).toEqual([10, 9, 8])
  const far = withNewest(heard, read(48, 50, 47))
  expect([ids(far), far.before, far.isBehind]).toEqual([[51, 50, 49, 48], 47, false])
  const near = withNewest(tail, read(10, 12, 9))
  expect([ids(near), near.before]).toEqual([[12, 11, 10, 9, 8], 7])
})

test('more waits than is kept: the rest is read when it goes on', () => {
  const tail = withHeard(paused(withNewest(begun(false), read(8, 10, 7))), events(11, 11 + KEPT))
  expect([tail.waiting.length, tail.isBehind]).toEqual([KEPT, true])
})

test('what comes pushes the oldest out, and looking before finds them again', () => {
  const tail = withHeard(withNewest(begun(false), read(1, 10)), events(11, KEPT + 10))
  expect([ids(tail)?.length, ids(tail)?.at(-1), tail.before]).toEqual([KEPT, 11, 10])
})

test('what was asked for is shown, however much there is, and stays when something comes', () => {
  const full = withHeard(withNewest(begun(false), read(5_001, 5_100, 5_000)), events(5_101, 7_000))
  expect(ids(full)?.length).toBe(KEPT)
  const earlier = withEarlier(full, read(4_901, 5_000, 4_900))
  expect([ids(earlier)?.length, ids(earlier)?.at(-1), earlier.before]).toEqual([KEPT + 100, 4_901, 4_900])
  const more = withEarlier(earlier, read(4_801, 4_900, 4_800))
  expect([ids(more)?.length, ids(withHeard(more, events(7_001, 7_050)))?.at(-1)]).toEqual([KEPT + 200, 4_801])
})

test('what lies before something that is no longer shown is not taken: there would be a gap', () => {
  const far = withNewest(behind(withNewest(begun(false), read(8, 10, 7))), read(48, 50, 47))
  expect(withEarlier(far, read(1, 7), 7)).toBe(far)
  expect(ids(withEarlier(far, read(45, 47, 44), 47))).toEqual([50, 49, 48, 47, 46, 45])
})

test('several scopes are listened to, and several tasks looked at, by number or natural key', () => {
  expect([scopesOf({}), scopesOf({ scope: 'node,archive:*' })]).toEqual([['*'], ['node', 'archive:*']])
  const made = event(1, { name: 'failed', task: '7', scope: 'archive:Mill', key: '12:index' })
  for (const task of ['7', '6,7', 'Mill@12:index', 'archive:Mill/12:index', '9,Mill@12:index'])
    expect(fits({ task }, made), task).toBe(true)
  for (const task of ['77', 'Mill@1:index', 'index']) expect(fits({ task }, made), task).toBe(false)
  expect(fits({ topics: 'held,failed', task: '7' }, made)).toBe(true)
  expect(fits({ topics: 'held', task: '7' }, made)).toBe(false)
  expect(fits({ task: '7' }, event(2, { task: null, scope: 'archive:Mill', key: null }))).toBe(false)
})
