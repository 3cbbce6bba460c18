import { expect, test } from 'vitest'
import { readPerson, readTrailers, withTrailer } from './message.ts'

test.each([
  ['subject', 'subject\n\nMillrace-Cause: m\n'],
  ['', 'Millrace-Cause: m\n'],
  ['subject\n\nbody\n\n', 'subject\n\nbody\n\nMillrace-Cause: m\n'],
  ['subject\n\nFixes: 1\nSigned-off-by: x', 'subject\n\nFixes: 1\nSigned-off-by: x\nMillrace-Cause: m\n'],
  ['Fixes: a subject', 'Fixes: a subject\n\nMillrace-Cause: m\n'],
])('the marker is the last trailer of %j', (message, whole) => {
  expect(withTrailer(message, 'm')).toBe(whole)
  expect(readTrailers(whole)).toEqual({ cause: 'm' })
})

test('a marker that a message brings along does not count against the true one', () => {
  const forged = withTrailer('subject\n\nMillrace-Cause: forged', 'true')
  expect(readTrailers(forged)).toEqual({ cause: 'true' })
  expect(readTrailers('subject\n\nMillrace-Cause: inside\n\nend')).toEqual({})
})

test.each([
  ['Bob <bob@example.org>', { name: 'Bob', email: 'bob@example.org' }],
  ['bob', { name: 'bob', email: 'bob@localhost' }],
  ['Bob B. <>', { name: 'Bob B.', email: 'Bob.B.@localhost' }],
  ['<only@mail>', { name: 'only@mail', email: 'only@mail' }],
  ['a\n<b', { name: 'a b', email: 'a.b@localhost' }],
])('%j is a person', (author, person) => {
  expect(readPerson(author)).toEqual(person)
})
