import { expect, test } from 'vitest'
import { toEdit } from './edit-value.ts'

test('a value is edited as JSON, with the digits of its numbers', () => {
  expect(toEdit('12', 'note', '{"key":"note","data":12345678901234567890}')).toBe('12345678901234567890')
  expect(toEdit('12', 'note', '{"key":"note","data":"a text"}')).toBe('"a text"')
})

test('the beginning of a longer text is not edited: saving it would cut off the rest', () => {
  const beginning = '{"key":"note","data":"once upon","pagination":{"next":"9","pid":"3"}}'
  expect(() => toEdit('12', 'note', beginning)).toThrow(/longer than 1 MiB.*millrace node set 12 note/)
})
