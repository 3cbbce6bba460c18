import { expect, test } from 'vitest'
import { writeTimesIn } from '../../format.ts'
import { type Item, rowsOf, sumsOf, type Timeline } from './rows-of.ts'
import { fitWindow, panBy, readZoom, tickFormat, ticksOf, writeZoom, zoomBy } from './window.ts'

const at = (second: number) => new Date(second * 1000).toISOString()
const ran = (from: number, to: number | null, worker = 'one') => ({
  kind: 'running' as const,
  from: at(from),
  to: to === null ? null : at(to),
  outcome: to === null ? null : 'succeeded',
  worker: { id: 1, name: worker },
})
const rest = (kind: 'waiting' | 'ready' | 'delayed', from: number, to: number) => ({
  kind,
  from: at(from),
  to: at(to),
  outcome: null,
  worker: null,
})
const item = (id: string, key: string, state: Item['state'], spans: Item['spans']): Item => ({
  id,
  kind: 'archive.task',
  scope: 'archive:A',
  key,
  state,
  spans,
})

const timeline: Timeline = {
  now: at(100),
  items: [
    item('1', '1:index', 'succeeded', [rest('waiting', 0, 2), rest('ready', 2, 3), ran(3, 10)]),
    item('2', '2:index', 'succeeded', [rest('waiting', 5, 12), ran(12, 20, 'two')]),
    item('3', '1:pdf', 'running', [ran(0, 5), rest('delayed', 5, 15), ran(15, null)]),
  ],
  edges: [],
  critical: ['1'],
  is_cut: false,
  next_cursor: null,
}

test('each task has a row, and those of the critical path are known', () => {
  const rows = rowsOf(timeline, { fold: undefined, isHiding: false })
  expect(rows.map(({ items, isCritical, bars }) => [items[0]?.key, isCritical, bars.map(({ kind }) => kind)])).toEqual([
    ['1:index', true, ['waiting', 'ready', 'running']],
    ['2:index', false, ['waiting', 'running']],
    ['1:pdf', false, ['running', 'delayed', 'running']],
  ])
})

test('folded by name, tasks that overlap have lanes of their own', () => {
  const rows = rowsOf(timeline, { fold: 'name', isHiding: false })
  expect(rows.map(({ label, lanes }) => [label, lanes])).toEqual([
    ['index', 2],
    [undefined, 1],
  ])
})

test('folded by worker or scope, a row of one task is still that of the worker or scope', () => {
  const one = { ...timeline, items: timeline.items.slice(0, 1) }
  expect(rowsOf(one, { fold: 'worker', isHiding: false }).map(({ label }) => label)).toEqual(['one'])
  expect(rowsOf(one, { fold: 'scope', isHiding: false }).map(({ label }) => label)).toEqual(['archive:A'])
})

test('folded by worker, there is only what each performed', () => {
  const rows = rowsOf(timeline, { fold: 'worker', isHiding: false })
  expect(rows.map(({ label, bars }) => [label, bars.length])).toEqual([
    ['one', 3],
    ['two', 1],
  ])
})

test('what is over can be hidden', () => {
  const rows = rowsOf(timeline, { fold: undefined, isHiding: true })
  expect(rows.map(({ items }) => items[0]?.key)).toEqual(['1:pdf'])
})

test('sums tell where the time went, to now for what goes on', () => {
  expect(sumsOf(timeline.items[2] as Item, 100_000)).toEqual({
    waiting: 0,
    ready: 0,
    running: 90_000,
    delayed: 10_000,
    held: 0,
    attempts: 2,
  })
})

test('zooming keeps the moment under the pointer, and goes back by its inverse', () => {
  const near = zoomBy({ from: 0, to: 1000 }, 2, 250)
  expect(near).toEqual({ from: 125, to: 625 })
  expect(zoomBy(near, 0.5, 250)).toEqual({ from: 0, to: 1000 })
  expect(panBy({ from: 0, to: 1000 }, 0.25)).toEqual({ from: 250, to: 1250 })
  const least = zoomBy({ from: 0, to: 20 }, 100)
  expect(least.to - least.from).toBe(20)
})

test('a zoom survives the address, and nonsense there is none', () => {
  expect(readZoom(writeZoom({ from: 12.4, to: 5000.6 }))).toEqual({ from: 12, to: 5001 })
  for (const text of [undefined, '', '5..4', 'a..b', '1..2']) expect(readZoom(text)).toBeUndefined()
})

test('what is shown at first is everything, and ticks are round', () => {
  expect(fitWindow([{ from: 1000, to: Number.POSITIVE_INFINITY }], 11_000)).toEqual({ from: 800, to: 11_200 })
  expect(fitWindow([], 100_000)).toEqual({ from: 40_000, to: 100_000 })
  expect(ticksOf({ from: 900, to: 11_000 }, 6).at).toEqual([2000, 4000, 6000, 8000, 10_000])
})

test('a folded row leads to its tasks by a filter that the server understands, and that of a worker to none', () => {
  const filters = (fold: 'name' | 'worker' | 'scope') =>
    rowsOf(
      { ...timeline, items: timeline.items.map((one) => ({ ...one, scope: 'archive:My Book', key: `${one.key}:x` })) },
      { fold, isHiding: false },
    ).map(({ filter }) => filter)
  expect(filters('scope')).toEqual(['scope:"archive:My Book"'])
  expect(filters('name')).toEqual(['"index:x"', '"pdf:x"'])
  expect(filters('worker')).toEqual([undefined, undefined])
})

test('moments are written in the zone that was chosen', () => {
  const noon = Date.parse('2026-01-01T12:00:00Z')
  const written = ['UTC', 'Asia/Tokyo'].map((zone) => {
    writeTimesIn(zone)
    return tickFormat(60_000).format(noon)
  })
  expect(written).toEqual(['12:00', '21:00'])
})
