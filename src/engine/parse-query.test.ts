import { expect, test } from 'vitest'
import { InvalidQuery } from './errors.ts'
import { intersect, parseQuery } from './parse-query.ts'

const EMPTY = { states: [], scopes: [], kinds: [], queues: [], keys: [], ids: [], words: [], isStuck: false }
const whole = (text: string) => ({ text, isPrefix: false })
const prefix = (text: string) => ({ text, isPrefix: true })

test.each([
  ['', {}],
  ['   ', {}],
  ['index', { words: ['index'] }],
  ['  build   PDF ', { words: ['build', 'PDF'] }],
  ['"build PDF" x', { words: ['build PDF', 'x'] }],
  ['state:failed', { states: ['failed'] }],
  ['STATE:Failed,skipped', { states: ['failed', 'skipped'] }],
  ['state:failed state:ready', { states: ['failed', 'ready'] }],
  ['scope:archive:x kind:y', { scopes: [whole('archive:x')], kinds: [whole('y')] }],
  ['scope:archive:*', { scopes: [prefix('archive:')] }],
  ['scope:"archive:My Project" queue:heavy', { scopes: [whole('archive:My Project')], queues: [whole('heavy')] }],
  ['key:12:index key:"say \\"hi\\""', { keys: [whole('12:index'), whole('say "hi"')] }],
  ['id:17 is:stuck', { ids: ['17'], isStuck: true }],
  ['12:index', { words: ['12:index'] }],
  ['My-Project@12:index', { words: ['My-Project@12:index'] }],
  ['kind:*', { kinds: [prefix('')] }],
  ['über 任务', { words: ['über', '任务'] }],
])('%s', (text, expected) => {
  expect(parseQuery(text)).toEqual({ ...EMPTY, ...expected })
})

test.each([
  ['colour:red', 0, '"colour:" is not known'],
  ['index stat:failed', 6, '"stat:" is not known'],
  ['a state:broken', 2, '"broken" is no state'],
  ['is:late', 0, '"is:late" is not known'],
  ['id:12a', 0, '"12a" is no id'],
  ['kind:', 0, 'nothing stands behind "kind:"'],
  ['x kind: y', 2, 'nothing stands behind "kind:"'],
  ['a "open', 2, 'a quotation mark is missing'],
  ['""', 0, 'nothing is quoted'],
  ['a\u0000b', 1, 'a NUL character'],
  ['x'.repeat(1001), 1000, 'longer than 1000'],
  [Array.from({ length: 51 }, () => 'x').join(' '), 100, 'more than 50 parts'],
])('the search %s is refused where it is wrong', (text, position, message) => {
  const error = (() => {
    try {
      parseQuery(text)
      return undefined
    } catch (thrown) {
      return thrown as InvalidQuery
    }
  })()
  expect(error).toBeInstanceOf(InvalidQuery)
  expect([error?.position, error?.code]).toEqual([position, 'invalid_query'])
  expect(error?.message).toContain(message)
})

test('an unknown qualifier says how to search for its characters', () => {
  expect(() => parseQuery('http://x')).toThrow(
    expect.objectContaining({ remedy: 'To search for these very characters, write "http:…" in quotation marks.' }),
  )
  expect(parseQuery('"http://x"').words).toEqual(['http://x'])
})

test('what meets two lists is what both allow', () => {
  expect(intersect(undefined, undefined)).toBeUndefined()
  expect(intersect([whole('a')], undefined)).toEqual([whole('a')])
  expect(intersect([whole('a:b')], [prefix('a:')])).toEqual([whole('a:b')])
  expect(intersect([prefix('a:')], [prefix('a:b'), whole('c')])).toEqual([prefix('a:b')])
  expect(intersect([whole('a')], [whole('b')])).toEqual([])
})
