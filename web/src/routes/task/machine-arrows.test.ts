import { expect, test } from 'vitest'
import { type Arrow, arrowOf } from './machine-arrows.ts'

type Point = readonly [number, number]

/** Points along a path of lines and bows. */
function along(path: string): Point[] {
  const points: Point[] = []
  let at: Point = [0, 0]
  for (const [, letter, text = ''] of path.matchAll(/([MLC])([^MLC]*)/g)) {
    const numbers = text.trim().split(/\s+/).map(Number)
    const ends = numbers.flatMap((x, i): Point[] => (i % 2 === 0 ? [[x, numbers[i + 1] ?? 0]] : []))
    const to = ends.at(-1) as Point
    const [c1, c2] = letter === 'C' ? (ends as [Point, Point]) : [at, to]
    const from = at
    const on = (t: number, axis: 0 | 1) =>
      from[axis] * (1 - t) ** 3 + 3 * c1[axis] * t * (1 - t) ** 2 + 3 * c2[axis] * t ** 2 * (1 - t) + to[axis] * t ** 3
    if (letter !== 'M') for (let i = 0; i <= 100; i += 1) points.push([on(i / 100, 0), on(i / 100, 1)])
    at = to
  }
  return points
}

/** Whether the line runs through the letters of its count. */
function isCovered({ path, label: { x, y, anchor } }: Arrow): boolean {
  const width = 18
  const left = anchor === 'start' ? x : anchor === 'end' ? x - width : x - width / 2
  return along(path).some(([px, py]) => px > left && px < left + width && py > y - 9 && py < y + 1)
}

const forwards = ['waiting>ready', 'ready>running', 'running>succeeded', 'running>failed', 'running>canceled']
const backwards = [
  'running>delayed',
  'delayed>ready',
  'running>ready',
  'failed>waiting',
  'failed>ready',
  'canceled>waiting',
]

test('how often a way was gone is written beside its line', () => {
  expect([...forwards, ...backwards].filter((move) => isCovered(arrowOf(move)))).toEqual([])
})

test('the way back from an end begins aside from where the way there arrives', () => {
  for (const end of ['succeeded', 'failed', 'canceled', 'skipped']) {
    const [there, back] = [along(arrowOf(`running>${end}`).path), along(arrowOf(`${end}>waiting`).path)]
    const [x1, y1] = there.at(-1) as Point
    const [x2, y2] = back[0] as Point
    expect(Math.hypot(x1 - x2, y1 - y2), end).toBeGreaterThan(10)
    const [x, y] = back.at(-1) as Point
    expect([x, y], end).toEqual([70, 132])
  }
})
