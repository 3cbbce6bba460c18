// The cases are those of the dashboard, in web/src/routes/loom/reach.test.ts: both must tell the same.
import { expect, test } from 'vitest'
import { frontier, type Picture, tellFrontier } from './frontier.ts'

const states = ['waiting', 'running', 'succeeded', 'failed', 'canceled', 'skipped', 'superseded']
type Cells = Readonly<Record<string, string>>

function aPicture(columns: readonly string[], rows: Readonly<Record<number, Cells>>): Picture {
  const numbers = Object.keys(rows)
    .map(Number)
    .toSorted((a, b) => b - a)
  return {
    archive: 'A',
    planned: numbers[0] ?? 0,
    youngest: numbers[0] ?? 0,
    columns: columns.map((name) => ({ name, workflow: null })),
    states,
    edges: [],
    rows: numbers.map((number) => ({
      number,
      id: String(number),
      author: null,
      date: null,
      message: '',
      problem_count: 0,
      definition: 'd',
      base: '0',
      cells: Object.entries(rows[number] ?? {}).flatMap(([name, state]) => [
        columns.indexOf(name),
        states.indexOf(state),
        0,
      ]),
      edges: [],
    })),
    gaps: [],
    next_before: null,
  }
}

const told = (...given: Parameters<typeof aPicture>) => tellFrontier(frontier(aPicture(...given)))

test('the frontier is the newest result; superseded is none', () => {
  const picture = aPicture(['COMMIT', 'indexing', 'build-PDF'], {
    4: { COMMIT: 'succeeded', indexing: 'running', 'build-PDF': 'waiting' },
    3: { COMMIT: 'succeeded', indexing: 'succeeded', 'build-PDF': 'running' },
    2: { COMMIT: 'succeeded', indexing: 'succeeded', 'build-PDF': 'superseded' },
    1: { COMMIT: 'succeeded', indexing: 'failed', 'build-PDF': 'succeeded' },
  })
  expect(frontier(picture).map(({ behind }) => behind)).toEqual([0, 1, 3])
  expect(tellFrontier(frontier(picture))).toBe('indexing -1, build-PDF -3')
})

test('without a result among the rows it is at least so far behind', () => {
  const rows = { 9: { COMMIT: 'succeeded', a: 'waiting' }, 8: { COMMIT: 'succeeded', a: 'running' } }
  expect(told(['COMMIT', 'a'], rows)).toBe('a -2 or more')
})

test('a revision that does not have the task does not count', () => {
  const done = { COMMIT: 'succeeded', build: 'succeeded' }
  const gone = { COMMIT: 'succeeded' }
  // It was taken out of the workflow file, is started by hand alone, or the files of the youngest revision are broken.
  expect(told(['COMMIT', 'build'], { 3: gone, 2: gone, 1: done })).toBe('nothing lags')
  expect(told(['COMMIT', 'build'], { 4: gone, 3: { COMMIT: 'succeeded', build: 'running' }, 2: gone, 1: done })).toBe(
    'build -2',
  )
})
