import { expect, test } from 'vitest'
import { whole } from '../scripts/passes.mjs'
import { sortFailures, tellUnsteady } from '../scripts/unsteady.mjs'

const failure = (file: string, name: string) => ({ pass: whole, file, name, message: 'red' })
const names = (failures: readonly { name: string }[]) => failures.map(({ name }) => name)

test('a test that fails again has failed, and one that passes by itself is unsteady', async () => {
  const ran: (string | undefined)[] = []
  const sorted = await sortFailures([failure('a', 'one'), failure('a', 'two'), failure('b', 'three')], async (of) => {
    ran.push(of.file)
    return { failures: of.file === 'a' ? [failure('a', 'two')] : [] }
  })
  expect(ran).toEqual(['a', 'b'])
  expect(names(sorted.failed)).toEqual(['two'])
  expect(names(sorted.unsteady)).toEqual(['one', 'three'])
  expect(sorted.tooMany).toBeUndefined()
  expect(tellUnsteady(sorted.unsteady)).toEqual([
    `unsteady: ${whole.title}: a > one`,
    `unsteady: ${whole.title}: b > three`,
  ])
})

test('a file that cannot be loaded the second time makes no test of it unsteady', async () => {
  const sorted = await sortFailures([failure('a', 'one')], async () => ({ failures: [failure('a', '')] }))
  expect(names(sorted.failed)).toEqual(['one'])
})

test('a test that fails only the second time is unsteady too', async () => {
  const sorted = await sortFailures([failure('a', 'one')], async () => ({ failures: [failure('a', 'two')] }))
  expect([names(sorted.failed), names(sorted.unsteady)]).toEqual([[], ['one', 'two']])
})

test('of a file that could not be loaded the first time, a test that fails the second time has failed', async () => {
  const sorted = await sortFailures([failure('a', '')], async () => ({ failures: [failure('a', 'one')] }))
  expect([names(sorted.failed), names(sorted.unsteady)]).toEqual([['one'], ['']])
})

test('more than three unsteady tests fail the run', async () => {
  const four = ['one', 'two', 'three', 'four'].map((name) => failure('a', name))
  const passing = async () => ({ failures: [] })
  expect((await sortFailures(four, passing)).tooMany).toBe('4 tests are unsteady: more than 3 fail the run')
  expect((await sortFailures(four.slice(1), passing)).tooMany).toBeUndefined()
})

test('what failed outside of any file does not run again', async () => {
  const nowhere = { pass: whole, file: undefined, name: '', message: 'the runner ended' }
  const sorted = await sortFailures([nowhere], () => Promise.reject(new Error('it ran')))
  expect(sorted.failed).toEqual([nowhere])
})
