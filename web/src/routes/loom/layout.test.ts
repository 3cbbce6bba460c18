import { expect, test } from 'vitest'
import { GAP, hit, layOut, ROW, reveal, totalHeight, windowOf, xOf, yOf } from './layout.ts'
import { missing, nearest, stretchesOf } from './stretch.ts'
import { REACH, showsAll, threads } from './threads.ts'
import { aCloth, document } from './woven.ts'

const at = layOut({ width: 1000, columns: 5, gaps: 1, planned: 5000, first: 1 })
const view = { left: 0, top: 0, width: 1000, height: 600 }

test('a point finds the cell whose middle it is, below the gaps', () => {
  expect(hit(at, xOf(at, 3), yOf(at, 4990) + ROW / 2)).toEqual({ number: 4990, place: 3 })
  expect(hit(at, 5, yOf(at, 5000) + 1)).toEqual({ number: 5000, place: -1 })
  expect(hit(at, 5, at.head + GAP / 2)).toBeUndefined()
  expect(hit(at, 5, totalHeight(at) + 100)).toBeUndefined()
})

test('the window is what is in view and a few more, wherever one is', () => {
  expect(windowOf(at, view)).toMatchObject({ youngest: 5000, firstPlace: 0, lastPlace: 4 })
  const down = windowOf(at, { ...view, top: 2000 * ROW })
  expect(5000 - down.youngest).toBeLessThan(2000)
  expect(down.youngest - down.oldest).toBeLessThan(40)
  expect(windowOf(at, { ...view, top: totalHeight(at) - 600 }).oldest).toBe(1)
})

test('a cell that is in view stays where it is, and one that is not comes to the edge', () => {
  expect(reveal(at, view, 4995, 2)).toEqual({ left: 0, top: 0 })
  const { top } = reveal(at, view, 4000, 2)
  const found = windowOf(at, { ...view, top }, 0)
  expect(found.oldest).toBeLessThanOrEqual(4000)
  expect(found.youngest).toBeGreaterThan(4000)
})

test('a million revisions are cut to what a browser can scroll', () => {
  expect(totalHeight(layOut({ width: 1000, columns: 5, gaps: 0, planned: 1_000_000, first: 1 }))).toBeLessThan(
    16_000_000,
  )
})

test('columns keep a width that can be pointed at', () => {
  const many = layOut({ width: 1000, columns: 50, gaps: 0, planned: 9, first: 1 })
  expect(many.columnWidth).toBeGreaterThanOrEqual(44)
  expect(many.isSlanted).toBe(true)
})

test('threads run up the column, along the row, and dashed beside it', () => {
  const cloth = document()
  const layout = layOut({ width: 1000, columns: 3, gaps: 0, planned: 4, first: 1 })
  const window = windowOf(layout, view)
  const all = threads({ cloth, at: layout, window, places: [0, 1, 2], focus: undefined })
  const told = all.map(({ is, from, to }) => `${is} ${from.number}:${from.column} ${to.number}:${to.column}`)
  expect(told).toContain('warp 3:1 4:1')
  expect(told).toContain('warp 3:0 4:0')
  expect(told).toContain('weft 4:1 4:2')
  expect(told).toContain('cancels 2:2 3:2')
  // Each later task of a revision comes after COMMIT by way of the first.
  expect(told.filter((one) => one.startsWith('weft 4:0'))).toEqual(['weft 4:0 4:1'])
})

test('a thread that passes a cell leaves its line, and one that passes none does not', () => {
  const columns = ['COMMIT', 'a', 'b', 'c']
  const edges = [['a', 'c', 0, 'succeeded'] as const]
  const full = aCloth(columns, {
    1: { cells: { COMMIT: 'succeeded', a: 'succeeded', b: 'succeeded', c: 'waiting' }, edges },
  })
  const free = aCloth(columns, { 1: { cells: { COMMIT: 'succeeded', a: 'succeeded', c: 'waiting' }, edges } })
  const layout = layOut({ width: 1000, columns: 4, gaps: 0, planned: 1, first: 1 })
  const given = { at: layout, window: windowOf(layout, view), places: [0, 1, 2, 3], focus: undefined }
  const ys = (cloth: typeof full) => {
    const thread = threads({ ...given, cloth }).find(({ from, to }) => from.column === 1 && to.column === 3)
    return new Set(thread?.points.filter((_, i) => i % 2 === 1))
  }
  expect(ys(free).size).toBe(1)
  expect(ys(full).size).toBe(2)
  expect(Math.max(...ys(full)) - Math.min(...ys(full))).toBeGreaterThan(REACH)
})

test('where there are too many, only the threads of the focused cell and its column are shown', () => {
  const columns = ['COMMIT', ...Array.from({ length: 45 }, (_, i) => `t${i}`)]
  const cells = Object.fromEntries(columns.map((name) => [name, 'succeeded' as const]))
  const edges = columns.slice(1).map((name) => [name, name, 1, 'finished'] as const)
  const cloth = aCloth(columns, { 3: { cells, edges }, 2: { cells, edges }, 1: { cells } })
  const layout = layOut({ width: 1000, columns: columns.length, gaps: 0, planned: 3, first: 1 })
  const given = { cloth, at: layout, window: windowOf(layout, view), places: columns.map((_, i) => i) }
  expect(showsAll(given)).toBe(false)
  expect(threads({ ...given, focus: undefined })).toEqual([])
  const shown = threads({ ...given, focus: { number: 2, column: 7 } })
  expect(shown.map(({ is, from, to }) => `${is} ${from.number}:${from.column} ${to.number}:${to.column}`)).toEqual([
    'warp 2:7 3:7',
    'weft 2:0 2:7',
    'warp 1:7 2:7',
  ])
})

test('each page is asked for once, on a grid, without what is there', () => {
  const bounds = { first: 1, last: 5000 }
  const loaded = (number: number) => number > 4950
  expect(missing({ first: 4930, last: 4999 }, bounds, loaded)).toEqual([{ first: 4901, last: 4950 }])
  expect(missing({ first: 4890, last: 4960 }, bounds, loaded)).toEqual([
    { first: 4801, last: 4900 },
    { first: 4901, last: 4950 },
  ])
  expect(missing({ first: -20, last: 30 }, bounds, () => false)).toEqual([{ first: 1, last: 100 }])
  expect(missing({ first: 4960, last: 5020 }, bounds, loaded)).toEqual([])
})

test('stale rows near each other are fetched together, and what is far is forgotten first', () => {
  expect(stretchesOf([4, 90, 3, 12])).toEqual([
    { first: 3, last: 12 },
    { first: 90, last: 90 },
  ])
  expect(nearest(100, { first: 50, last: 60 }, 100)).toBeUndefined()
  expect(nearest(101, { first: 50, last: 60 }, 50)).toEqual({ first: 30, last: 80 })
})
