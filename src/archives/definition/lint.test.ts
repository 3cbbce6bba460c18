import { readdirSync, readFileSync } from 'node:fs'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { lint } from './lint.ts'
import { readDefinition } from './read-definition.ts'

const file = (text: string, path = '_workflows/a.yaml') => ({ path, bytes: Buffer.from(text) })
const task = (name: string) => `- {name: ${name}, command: make}\n`
const shown = (text: string, path?: string) =>
  lint([file(text, path)]).findings.map(({ code, line, column }) => `${code} ${line}:${column}`)

test('a file over 128 KiB is not read', () => {
  const text = `${task('a')}#${' '.repeat(128 * 1024)}\n`
  expect(shown(text)).toEqual(['too-large 1:1'])
  expect(shown(text.slice(0, 128 * 1024))).toEqual([])
})

test('what lies beyond 512 KiB or 50 files is not read', () => {
  const files = (count: number, text: string) =>
    Array.from({ length: count }, (_, i) => file(task(`t${i}`) + text, `_workflows/${String(i).padStart(2, '0')}.yaml`))
  const large = lint(files(5, `#${' '.repeat(110 * 1024)}`)).findings
  expect(large.map(({ code, file }) => `${code} ${file}`)).toEqual(['too-large _workflows/04.yaml'])
  expect(lint(files(50, '')).findings).toEqual([])
  const many = lint(files(52, '')).findings
  expect(many.map(({ code, file }) => `${code} ${file}`)).toEqual([
    'too-large _workflows/50.yaml',
    'too-large _workflows/51.yaml',
  ])
})

test('an archive has at most a thousand tasks', () => {
  const text = (count: number) => Array.from({ length: count }, (_, i) => task(`t${i}`)).join('')
  expect(shown(text(1000))).toEqual([])
  expect(shown(text(1002))).toEqual(['too-many-tasks 1001:4'])
})

test('of more than 500 findings the errors are kept', () => {
  const warnings = Array.from({ length: 600 }, (_, i) => `- {name: t${i}, command: make, if: false}\n`).join('')
  const { findings } = lint([file(`${warnings}- {zzz: x, command: make}\n`)])
  expect(findings).toHaveLength(500)
  expect(findings.filter(({ severity }) => severity === 'error').map(({ code }) => code)).toEqual([
    'missing-name',
    'unknown-key',
  ])
  expect(findings.at(-1)).toMatchObject({ code: 'more-findings', message: 'there are 103 more findings' })
})

test('of many unknown names the first hundred get a suggestion', () => {
  const names = Array.from({ length: 190 }, (_, i) => `indexin${i}`).join(', ')
  const { findings } = lint([
    file(`- {name: indexing, command: make}\n- {name: b, command: make, depends: [${names}]}\n`),
  ])
  expect(findings).toHaveLength(190)
  expect(findings.filter(({ suggestion }) => suggestion !== null)).toHaveLength(100)
})

test.for([
  ['- {name: b, command: make, depends: [{PREV: b}]}', 'write "PREV:b"'],
  ['- {name: b, command: make, cancels: {PREV: }}', 'write PREV'],
  ['- {name: b, command: make, depends: {PREV: b, when: failed}}', 'write { task: "PREV:b", when: failed }'],
  ['- {name: b, command: make, artifacts: [{out: 1}]}', 'put it in quotes: "out: 1"'],
  ['- {name: b, command: [echo, note: yes]}', 'put it in quotes: "note: yes"'],
  [
    '- name: b\n  command: make a: b',
    'write command: "make a: b" if the colon belongs to the text; else look at the indentation of the next line',
  ],
  ['defaults: {timeot: 1h}\ntasks: [{name: b, command: make}]', 'did you mean timeout?'],
  ['timeout: 1h\ntasks: [{name: b, command: make}]', 'write defaults: { timeout: 1h }'],
  [
    'defaults: {cancels: PREV}\ntasks: [{name: b, command: make}]',
    'write cancels at the top of the file, beside defaults',
  ],
  ['defaults: [{timeout: 1h}]\ntasks: [{name: b, command: make}]', 'write the keys without dashes'],
  [
    'tasks: [{defaults: {timeout: 1h}}, {name: b, command: make}]',
    'write defaults: at the top of the file, beside tasks:',
  ],
] as const)('the one finding of %j says: %s', ([text, suggestion]) => {
  expect(lint([file(`${text}\n`)]).findings.map((one) => one.suggestion)).toEqual([suggestion])
})

test.for([
  ['brackets', '['.repeat(100_000)],
  ['braces', '{a: '.repeat(10_000)],
  ['dashes', '- '.repeat(20_000)],
  ['question marks', '? '.repeat(20_000)],
  ['anchors', '&a '.repeat(8_000)],
  ['tags', '!a '.repeat(8_000)],
  ['aliases', '*a '.repeat(8_000)],
  ['commas', `[${','.repeat(10_000)}`],
  ['colons', ': '.repeat(20_000)],
  ['quotes', '"'.repeat(20_001)],
  ['documents', '---\n'.repeat(30_000)],
  ['keys', Array.from({ length: 15_000 }, (_, i) => `k${i}: 1\n`).join('')],
  ['parentheses', `- {name: a, command: make, if: '${'('.repeat(100_000)}'}`],
  ['stars', `on: {commit: {paths: ["${'*a'.repeat(50_000)}"]}}`],
  ['alternatives', `on: {commit: {paths: ["${'{a,b}'.repeat(20_000)}"]}}`],
  ['schedules', `on: {schedule: [${'{cron: 1 0 30 2 *},'.repeat(6_000)}]}`],
  [
    'cycles',
    Array.from(
      { length: 1000 },
      (_, i) => `- {name: t${i}, command: make, depends: [t${(i + 1) % 1000}, t${(i * 7) % 1000}]}\n`,
    ).join(''),
  ],
  [
    'cancels',
    Array.from(
      { length: 900 },
      (_, i) => `- {name: t${i}, command: make, depends: [t${i + 1}], cancels: [t${i + 9}, PREV:t${i + 7}]}\n`,
    ).join(''),
  ],
])('a file of nothing but %s ends in findings, not in the end of the process', ([, text]) => {
  expect(shown(text as string).length).toBeGreaterThan(0)
})

const good = new URL('corpus/good/', import.meta.url)
const texts = readdirSync(good)
  .filter((name) => name.endsWith('.yaml'))
  .map((name) => readFileSync(new URL(name, good), 'utf8'))
const WORDS = [
  'name',
  'depends',
  'PREV',
  'COMMIT',
  ':',
  '-',
  '\n',
  '  ',
  '[',
  ']',
  '{',
  '}',
  '"',
  "'",
  '*a',
  '&a',
  '<<',
  '|',
  '>',
  '\t',
  '12',
  '~',
  'true',
  '!x',
  '# ',
  ',',
  '? ',
  'tasks:\n',
  'on:',
  '%',
  '\\',
  '\u0000',
  '\ufeff',
  '😀',
  '__proto__',
]

test('whatever is in a file, its findings lie in it and nothing is thrown', () => {
  const words = fc
    .array(fc.oneof(fc.constantFrom(...WORDS), fc.string({ maxLength: 4 })), { maxLength: 40 })
    .map((list) => list.join(''))
  const spoiled = fc
    .record({
      text: fc.constantFrom(...texts),
      at: fc.nat(),
      length: fc.nat({ max: 12 }),
      word: fc.constantFrom(...WORDS),
    })
    .map(
      ({ text, at, length, word }) => text.slice(0, at % text.length) + word + text.slice((at % text.length) + length),
    )
  fc.assert(
    fc.property(fc.oneof(words, spoiled), fc.constantFrom('a.yaml', 'a.json'), (text, path) => {
      const { problems, workflows } = readDefinition([file(text, path)])
      const isBroken = problems.some(({ severity }) => severity === 'error')
      expect(workflows).toHaveLength(isBroken ? 0 : 1)
      const lines = text.replace(/^\uFEFF/, '').split('\n')
      for (const { line, column, endLine, endColumn } of problems) {
        expect(line).toBeLessThanOrEqual(lines.length)
        expect(column).toBeLessThanOrEqual((lines[line - 1] as string).length + 1)
        expect(endColumn).toBeLessThanOrEqual((lines[endLine - 1] as string).length + 1)
      }
    }),
    { numRuns: 600 },
  )
})

test('whatever bytes a file has, nothing is thrown', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 60 }), (bytes) => {
      readDefinition([{ path: 'a.yaml', bytes }])
    }),
  )
})
