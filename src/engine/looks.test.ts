import pg from 'pg'
import { expect, test } from 'vitest'
import { Line } from '../db/index.ts'
import { Looks } from './looks.ts'

const pool = new pg.Pool() // of which no connection is taken

test('what comes back is told to the looks under way, and to no later one', () => {
  const lines = [new Line(pool), new Line(pool)]
  const looks = new Looks(lines)
  const [first, second] = [looks.begin(3), looks.begin(-1)]
  expect([looks.size, looks.room, looks.isFree]).toEqual([2, 3, false])
  looks.end(second)
  const place = { lane: 1, priority: 0, readyOrder: '7' }
  looks.outdate([place])
  const third = looks.begin(2)
  expect([first, second, third]).toEqual([
    { line: lines[1], room: 3, isOutdated: true, back: [place] },
    { line: lines[0], room: 0, isOutdated: false, back: [] },
    { line: lines[0], room: 2, isOutdated: false, back: [] },
  ])
  expect(looks.room).toBe(5)
})
