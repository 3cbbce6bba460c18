import { expect, test } from 'vitest'
import { Folding, isHidden } from './folds.ts'

test('rows and lines are the same while nothing is folded', () => {
  const folding = new Folding([])
  expect([folding.rows(10), folding.line(7), folding.row(7)]).toEqual([10, 7, 7])
})

test('every row shows a line that is not hidden, each once and in order', () => {
  const folds = [
    { from: 3, to: 5 },
    { from: 8, to: 20 },
    { from: 10, to: 12 },
    { from: 25, to: 24 },
  ]
  const folding = new Folding(folds)
  const lines = Array.from({ length: folding.rows(30) }, (_, i) => folding.line(i + 1))
  const seen = Array.from({ length: 30 }, (_, i) => i + 1).filter((line) => !isHidden(folds, line))
  expect(lines).toEqual(seen)
  for (const [i, line] of lines.entries()) expect(folding.row(line)).toBe(i + 1)
})

test('a hidden line is found at the title of its group', () => {
  const folding = new Folding([{ from: 3, to: 5 }])
  expect([2, 3, 4, 5, 6].map((line) => folding.row(line))).toEqual([2, 2, 2, 2, 3])
})

test('a fold that reaches beyond what is stored hides what is there', () => {
  expect(new Folding([{ from: 3, to: 100 }]).rows(10)).toBe(2)
  expect(new Folding([{ from: 30, to: 100 }]).rows(10)).toBe(10)
})
