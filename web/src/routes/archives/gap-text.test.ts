import { expect, test } from 'vitest'
import { gapText } from './gap-text.ts'

test('a gap is told with what it keeps waiting', () => {
  expect(gapText({ first: 4, last: 6, reason: 'not_announced' }, 'active')).toBe(
    'r4 was not announced: what came after, up to r6, waits for it. Is a hook missing?',
  )
  expect(gapText({ first: 4, last: 9, reason: 'not_planned' }, 'active')).toBe('r4 to r9 are not planned yet')
  expect(gapText({ first: 4, last: 9, reason: 'not_planned' }, 'held')).toBe('r4 to r9 are not planned: it is held')
})
