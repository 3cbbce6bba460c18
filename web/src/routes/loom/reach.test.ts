import { expect, test } from 'vitest'
import { allows, chosenOf, fitting, rectangle, toggle } from './choose.ts'
import { codeOf } from './cloth.ts'
import { frontier, frontierLine, tellFrontier } from './frontier.ts'
import { commandOf } from './keys.ts'
import { layOut, yOf } from './layout.ts'
import { blocker, dependant, downstream, failure, keyOf, lit, upstream } from './reach.ts'
import { speak } from './speak.ts'
import { walk } from './walk.ts'
import { aCloth, document } from './woven.ts'

const [COMMIT, INDEX, PDF] = [0, 1, 2]
const order = [COMMIT, INDEX, PDF]
const at = (number: number, column: number) => ({ number, column })

test('what a cell waits for and what waits for it, with what every revision has', () => {
  const cloth = document()
  expect(upstream(cloth, at(3, PDF))).toEqual([
    { number: 3, column: INDEX, kind: 0 },
    { number: 2, column: PDF, kind: 3 },
  ])
  expect(upstream(cloth, at(1, INDEX))).toEqual([{ number: 1, column: COMMIT, kind: 0 }])
  expect(upstream(cloth, at(3, COMMIT))).toEqual([{ number: 2, column: COMMIT, kind: 2 }])
  expect(downstream(cloth, at(3, INDEX)).map(keyOf)).toEqual([at(3, PDF), at(4, INDEX)].map(keyOf))
  expect(downstream(cloth, at(1, COMMIT)).map(keyOf)).toEqual([at(1, INDEX), at(2, COMMIT)].map(keyOf))
})

test('a cell lights its revision and one step beyond, and further only along what is open', () => {
  const cloth = document()
  const light = lit(cloth, at(3, PDF))
  const cells = [at(3, PDF), at(3, INDEX), at(2, PDF), at(4, PDF), at(3, COMMIT)]
  expect(light).toEqual(new Set(cells.map(keyOf)))
})

test('the blocker is the requirement that is not met, or who superseded it', () => {
  const cloth = document()
  expect(blocker(cloth, at(4, PDF))).toMatchObject(at(4, INDEX))
  expect(blocker(cloth, at(2, PDF))).toMatchObject(at(3, PDF))
  expect(blocker(cloth, at(3, INDEX))).toBeUndefined()
  expect(dependant(cloth, at(3, INDEX))).toMatchObject(at(3, PDF))
})

test('failures are walked downwards and back', () => {
  const cloth = document()
  expect(failure(cloth, order, at(4, COMMIT), 1)).toEqual(at(1, INDEX))
  expect(failure(cloth, order, at(1, INDEX), 1)).toBeUndefined()
  expect(failure(cloth, order, at(1, PDF), -1)).toEqual(at(1, INDEX))
})

test('the frontier is the newest result; superseded is none', () => {
  const cloth = document()
  const reached = frontier(cloth, order)
  expect(reached.map(({ number, behind }) => [number, behind])).toEqual([
    [4, 0],
    [3, 1],
    [1, 3],
  ])
  expect(tellFrontier(cloth, reached)).toBe('indexing −1, build-PDF −3')
})

test('without a result among the loaded rows it is at least so far behind', () => {
  const cloth = aCloth(['COMMIT', 'a'], {
    9: { cells: { COMMIT: 'succeeded', a: 'waiting' } },
    8: { cells: { COMMIT: 'succeeded', a: 'running' } },
  })
  expect(tellFrontier(cloth, frontier(cloth, [0, 1]))).toBe('a −2 or more')
  expect(tellFrontier(cloth, frontier(cloth, [0]))).toBe('nothing lags')
})

test('a revision that does not have the task does not count for the frontier', () => {
  const done = { cells: { COMMIT: 'succeeded', build: 'succeeded' } } as const
  const gone = { cells: { COMMIT: 'succeeded' } } as const
  const told = (rows: Parameters<typeof aCloth>[1]) => {
    const cloth = aCloth(['COMMIT', 'build'], rows)
    return tellFrontier(cloth, frontier(cloth, [0, 1]))
  }
  // It was taken out of the workflow file, is started by hand alone, or the files of the youngest revision are broken.
  expect(told({ 3: gone, 2: gone, 1: done })).toBe('nothing lags')
  const runs = { cells: { COMMIT: 'succeeded', build: 'running' } } as const
  expect(told({ 4: gone, 3: runs, 2: gone, 1: done })).toBe('build −2')
})

test('the line steps between columns along the upper edges of rows', () => {
  const cloth = document()
  const layout = layOut({ width: 1000, columns: 3, gaps: 0, planned: 4, first: 1 })
  const points = frontierLine(layout, frontier(cloth, order))
  const ys = points.filter((_, i) => i % 2 === 1)
  expect(ys).toEqual([4, 4, 3, 3, 1, 1].map((number) => yOf(layout, number) + 0.5))
  expect(points[2]).toBe(points[4])
})

test('a cell says where it is, how it is, and why', () => {
  const cloth = document()
  const ran = {
    id: '2002',
    state: 'canceled' as const,
    started_at: '2026-01-01T00:00:00Z',
    finished_at: '2026-01-01T00:06:00Z',
  }
  expect(speak(cloth, at(2, PDF), ran)).toBe('revision 2, build-PDF, superseded by revision 3, ran 6 min')
  expect(speak(cloth, at(4, PDF))).toBe('revision 4, build-PDF, waiting for indexing')
  expect(speak(cloth, at(9, PDF))).toBe('revision 9, loading')
  const runs = { ...ran, state: 'running' as const, finished_at: null }
  expect(speak(cloth, at(4, INDEX), runs, Date.parse('2026-01-01T00:01:00Z'))).toBe(
    'revision 4, indexing, running, for 1 min',
  )
})

test('keys walk: arrows, pages, edges, blocker, failure, frontier', () => {
  const cloth = document()
  const given = { cloth, order, reached: frontier(cloth, order), first: 1, rowsInView: 2 }
  const press = (key: string, more = {}) =>
    commandOf({ key, shiftKey: false, ctrlKey: false, metaKey: false, altKey: false, ...more })
  const go = (from: ReturnType<typeof at>, key: string, more = {}) => {
    const command = press(key, more)
    return command === undefined ? undefined : walk(given, from, command)
  }
  expect(go(at(4, PDF), 'ArrowDown')).toEqual(at(3, PDF))
  expect(go(at(4, PDF), 'ArrowUp')).toEqual(at(4, PDF))
  expect(go(at(4, PDF), 'ArrowRight')).toEqual(at(4, PDF))
  expect(go(at(4, COMMIT), 'ArrowLeft')).toEqual(at(4, -1))
  expect(go(at(4, PDF), 'PageDown')).toEqual(at(2, PDF))
  expect(go(at(4, PDF), 'End', { ctrlKey: true })).toEqual(at(1, PDF))
  expect(go(at(4, PDF), 'Home')).toEqual(at(4, COMMIT))
  expect(go(at(4, PDF), 'b')).toMatchObject(at(4, INDEX))
  expect(go(at(4, PDF), 'n')).toEqual(at(1, INDEX))
  expect(go(at(4, PDF), '.')).toEqual(at(1, PDF))
  expect(go(at(3, INDEX), 'b')).toBe('Nothing blocks it')
  expect(press('r', { ctrlKey: true })).toBeUndefined()
  expect(press('r')).toEqual({ do: 'retry' })
})

test('a range holds the cells that exist, and a verb only those whose state allows it', () => {
  const cloth = document()
  const chosen = chosenOf(rectangle(cloth, order, at(4, INDEX), at(2, PDF)))
  expect(chosen.size).toBe(6)
  expect(fitting(cloth, chosen.values(), 'cancel')).toEqual([at(4, INDEX), at(4, PDF), at(3, PDF)])
  expect(fitting(cloth, chosen.values(), 'retry')).toEqual([at(2, PDF)])
  expect(toggle(toggle(chosen, at(4, PDF)), at(4, PDF)).size).toBe(6)
  expect([allows('hold', codeOf.running), allows('release', codeOf.held), allows('rerun', codeOf.succeeded)]).toEqual([
    false,
    true,
    true,
  ])
})
