import { expect, test } from 'vitest'
import { readFilter } from '../../filter.ts'
import type { LiveEvent } from '../../live.ts'
import {
  countFresh,
  listedOf,
  MOST_FRESH,
  patched,
  type TaskRow,
  unchanged,
  whenAnswered,
  whenAsked,
  withEvents,
} from './task-changes.ts'

const row = (id: number, state = 'ready') => ({ id: String(id), state }) as TaskRow
const event = (task: number, to: string) =>
  ({ task: String(task), to, at: '2026-01-01T00:00:00Z', scope: 's', key: null, kind: 'k', queue: 'q' }) as LiveEvent

const rows = [row(9), row(8), row(5)]
const all = listedOf(rows, [])
const states = (changes: typeof unchanged, of = rows) => patched(of, changes).map(({ state }) => state)

test('rows have the states that were told last, whichever frame brought them', () => {
  const first = withEvents(unchanged, [event(9, 'running'), event(8, 'running')], all)
  const second = withEvents(first, [event(9, 'succeeded')], all)
  expect(states(second)).toEqual(['succeeded', 'running', 'ready'])
})

test('what is told of a task before its row has come holds for the row', () => {
  const early = withEvents(unchanged, [event(9, 'running')], listedOf([], []))
  const later = withEvents(early, [event(9, 'failed')], listedOf([], readFilter('state:running')))
  expect([states(later), countFresh(later, all)]).toEqual([['failed', 'ready', 'ready'], 0])
})

test('rows that were asked for again have what they were answered, and only what was told meanwhile beside it', () => {
  const before = withEvents(unchanged, [event(9, 'running'), event(8, 'running'), event(12, 'ready')], all)
  const asked = whenAsked(before)
  expect(states(asked)).toEqual(['running', 'running', 'ready'])
  const meanwhile = withEvents(asked, [event(8, 'failed'), event(13, 'ready')], all)
  const answered = whenAnswered(meanwhile)
  const again = [row(12), row(9, 'succeeded'), row(8, 'running'), row(5)]
  expect(states(answered, again)).toEqual(['ready', 'succeeded', 'failed', 'ready'])
  expect(countFresh(answered, listedOf(again, []))).toBe(1)
})

test('without a filter only what is newer than all rows is new', () => {
  const changes = withEvents(unchanged, [event(3, 'running'), event(7, 'failed'), event(10, 'ready')], all)
  expect(countFresh(changes, all)).toBe(1)
})

test('with a filter whatever may have come to belong is new, old or not', () => {
  const listed = listedOf(rows, readFilter('state:failed'))
  const changes = withEvents(unchanged, [event(3, 'running'), event(7, 'failed')], listed)
  expect(countFresh(changes, listed)).toBe(1)
})

test('what has arrived is not new any more', () => {
  const changes = withEvents(unchanged, [event(10, 'ready'), event(11, 'ready')], all)
  expect(countFresh(changes, listedOf([row(10), ...rows], []))).toBe(1)
  const filtered = readFilter('scope:s')
  const told = withEvents(unchanged, [event(3, 'ready'), event(4, 'ready')], listedOf(rows, filtered))
  expect(countFresh(told, listedOf([...rows, row(4)], filtered))).toBe(1)
})

test('no more are kept than are counted, and those that have arrived make room', () => {
  const many = Array.from({ length: MOST_FRESH + 50 }, (_, i) => event(100 + i, 'ready'))
  const full = withEvents(unchanged, many, all)
  expect(countFresh(full, all)).toBe(MOST_FRESH)
  expect(withEvents(full, [event(50_000, 'ready')], all)).toBe(full)
  const arrived = listedOf([row(100 + MOST_FRESH - 1), ...rows], [])
  expect(countFresh(withEvents(full, [event(50_000, 'ready')], arrived), arrived)).toBe(1)
})
