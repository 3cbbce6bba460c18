import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type Glob, isGlobProblem, parseGlob, parseTextGlob } from './glob.ts'
import { coverPath, matchPath, matchText } from './match-glob.ts'

function glob(text: string): Glob {
  const parsed = parseGlob(text)
  if (isGlobProblem(parsed)) throw new Error(parsed.message)
  return parsed
}

// biome-ignore format: a table
test.for<[pattern: string, fits: string[], fitsNot: string[]]>([
  ['a.txt',            ['a.txt'],                              ['b.txt', 'a.txt/b', 'x/a.txt', 'a.tx', 'a.txtt']],
  ['*.txt',            ['a.txt', '.txt', '.a.txt'],            ['x/a.txt', 'a.txt.gz']],
  ['chapters/*',       ['chapters/1.md'],                      ['chapters', 'chapters/a/1.md', 'x/chapters/1']],
  ['chapters/**',      ['chapters/1.md', 'chapters/a/b/1.md'], ['chapters', 'chapter/1.md', 'xchapters/1']],
  ['chapters/',        ['chapters/1.md', 'chapters/a/b/1.md'], ['chapters']],
  ['**',               ['a', 'a/b/c'],                         []],
  ['**/*.md',          ['a.md', 'x/a.md', 'x/y/a.md'],         ['a.mdx', 'x/a.md/b']],
  ['a/**/b',           ['a/b', 'a/x/b', 'a/x/y/b'],            ['a', 'b', 'a/bb', 'ab']],
  ['a/**/**/b',        ['a/b', 'a/x/y/b'],                     ['a/x/c']],
  ['**/a/**/b/*.c',    ['a/b/x.c', 'x/a/y/b/z.c'],             ['a/x.c', 'b/a/x.c']],
  ['?.md',             ['a.md', 'é.md', '😀.md'],              ['ab.md', '.md']],
  ['[a-c]?[!0-9]',     ['axx', 'b1_'],                         ['dxx', 'ax1', 'ax']],
  ['[]a]',             [']', 'a'],                             ['b']],
  ['[a-]',             ['a', '-'],                             ['b']],
  ['{a,b/c}/*.{x,y}',  ['a/1.x', 'b/c/1.y'],                   ['b/1.x', 'a/1.z']],
  ['{a{1,2},b}',       ['a1', 'a2', 'b'],                      ['a', 'a12']],
  ['\\*\\{a\\}',       ['*{a}'],                               ['x{a}']],
  ['*a*a*b',           ['aab', 'xaxaxb'],                      ['aaa', 'ab']],
  ['Ünï 1/*',          ['Ünï 1/x'],                            ['Uni 1/x']],
])('the pattern %s fits what it should', ([pattern, fits, fitsNot]) => {
  for (const path of fits) expect(matchPath(glob(pattern), path), path).toBe(true)
  for (const path of fitsNot) expect(matchPath(glob(pattern), path), path).toBe(false)
})

test('a changed folder concerns every pattern that fits something below it', () => {
  for (const pattern of ['chapters/**', 'chapters/*.md', '**/*.md', 'chapters/a/b', 'chapters', '*/x'])
    expect(matchPath(glob(pattern), 'chapters/'), pattern).toBe(true)
  for (const pattern of ['drafts/**', '*.md', 'chapter/**'])
    expect(matchPath(glob(pattern), 'chapters/'), pattern).toBe(false)
})

test('a changed folder is covered by a pattern that fits all below it', () => {
  for (const pattern of ['chapters/**', 'chapters/', '**', 'chapters/**/*', '*/**'])
    expect(coverPath(glob(pattern), 'chapters/'), pattern).toBe(true)
  for (const pattern of ['chapters/*', 'chapters/**/*.md', 'chapters', 'chapters/a/**', '**/*/*/x'])
    expect(coverPath(glob(pattern), 'chapters/'), pattern).toBe(false)
  expect(coverPath(glob('chapters/*.md'), 'chapters/1.md')).toBe(true)
})

test('in texts that are no paths a star goes over slashes', () => {
  const fits = (pattern: string, text: string) => matchText(parseTextGlob(pattern) as Glob, text)
  expect(fits('*@example.org', 'a/b@example.org')).toBe(true)
  expect(fits('**fix**', 'a fix/\nof it')).toBe(true)
  expect(fits('ada', 'adam')).toBe(false)
  expect(fits('', '')).toBe(true)
})

/** The same in the simplest way: try everything. */
function fitsSimply(pattern: string[], parts: string[]): boolean {
  const [first, ...rest] = pattern
  if (first === undefined) return parts.length === 0
  if (first === '**') {
    if (rest.length === 0) return parts.length > 0
    return parts.some((_, i) => fitsSimply(rest, parts.slice(i))) || fitsSimply(rest, [])
  }
  return parts.length > 0 && segmentFitsSimply(first, parts[0] as string) && fitsSimply(rest, parts.slice(1))
}

function segmentFitsSimply(pattern: string, text: string): boolean {
  if (pattern === '') return text === ''
  if (pattern[0] === '*')
    return segmentFitsSimply(pattern.slice(1), text) || (text !== '' && segmentFitsSimply(pattern, text.slice(1)))
  return (
    text !== '' && (pattern[0] === '?' || pattern[0] === text[0]) && segmentFitsSimply(pattern.slice(1), text.slice(1))
  )
}

test('a pattern fits exactly what trying every way of matching finds', () => {
  const part = fc
    .array(fc.constantFrom('a', 'b', '*', '?'), { minLength: 1, maxLength: 4 })
    .map((letters) => letters.join('').replace(/\*+/g, '*'))
  const pattern = fc.array(fc.oneof(part, fc.constant('**')), { minLength: 1, maxLength: 4 })
  const path = fc.array(
    fc.array(fc.constantFrom('a', 'b'), { minLength: 1, maxLength: 4 }).map((l) => l.join('')),
    { minLength: 1, maxLength: 4 },
  )
  fc.assert(
    fc.property(pattern, path, (segments, parts) => {
      expect(matchPath(glob(segments.join('/')), parts.join('/'))).toBe(fitsSimply(segments, parts))
    }),
    { numRuns: 2000 },
  )
})
