import { expect, test } from 'vitest'
import { aimOf, columnOf, namedIn, OwnAddresses } from './address.ts'
import { Cloth } from './cloth.ts'
import { SIDE } from './walk.ts'
import { aPage } from './woven.ts'

test('a task of the address is found as soon as a page has its column', () => {
  const cloth = new Cloth()
  cloth.weave(aPage(['COMMIT', 'check'], { 200: { cells: { COMMIT: 'succeeded', check: 'failed' } } }), true)
  const aim = aimOf({ at: 'r2', task: 'old' })
  if (aim === undefined) throw new Error('the address names a cell')
  expect(columnOf(cloth, aim)).toBe(SIDE)
  cloth.weave(aPage(['COMMIT', 'old'], { 2: { cells: { COMMIT: 'succeeded', old: 'failed' } } }), false)
  expect(cloth.columns[columnOf(cloth, aim)]?.name).toBe('old')
  expect(namedIn(cloth, { number: 2, column: columnOf(cloth, aim) })).toEqual({ at: 'r2', task: 'old' })
})

test('an address without a revision or a task names no cell', () => {
  for (const search of [{}, { at: 'r2' }, { task: 'old' }, { at: 'nonsense', task: 'old' }])
    expect(aimOf(search)).toBeUndefined()
})

test('what the loom wrote is its own, also when the browser shows only the last of it', () => {
  const own = new OwnAddresses({})
  own.write({ at: 'r3' })
  own.write({ at: 'r4' })
  own.write({ at: 'r5', task: 'a' })
  expect([{ at: 'r4' }, { at: 'r5', task: 'a' }, { at: 'r5', task: 'a' }].map((one) => own.see(one))).toEqual([
    false,
    false,
    false,
  ])
})

test('what somebody else wrote is not, nor where the loom was before', () => {
  const own = new OwnAddresses({ at: 'r3' })
  own.write({ at: 'r3' })
  own.write({ at: 'r4' })
  expect(own.see({ at: 'r4' })).toBe(false)
  expect(own.see({ at: 'r3' })).toBe(true)
  expect(own.see({ at: 'r3', columns: 'index' })).toBe(false)
  expect(own.see({ at: 'r4' })).toBe(true)
})
