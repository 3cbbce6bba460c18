import { expect, test } from 'vitest'
import { type Condition, type ConditionFacts, holds, mayHold } from './condition.ts'
import { isConditionProblem, parseCondition } from './parse-condition.ts'

const facts: ConditionFacts = {
  trigger: 'commit',
  paths: ['chapters/1.md', 'drafts/'],
  author: 'ada@example.org',
  message: 'fix: the first/last chapter [draft]',
  branch: 'release/1.0',
  inputs: { edition: 'final' },
}

function read(text: string): Condition {
  const condition = parseCondition(text)
  if (isConditionProblem(condition)) throw new Error(`${text}: ${condition.message}`)
  return condition
}

test.for([
  'trigger == "commit"',
  "trigger == 'commit'",
  'trigger != "manual"',
  'trigger in ["commit", "manual"]',
  'trigger not in ["schedule"]',
  'author matches "*@example.org"',
  'author matches "{ada,grace}@*"',
  'message contains "[draft]"',
  'message matches "fix:*chapter*"',
  'paths matches "chapters/**"',
  'paths matches "drafts/x/*.md"',
  'paths contains "chapters/1.md"',
  '"chapters/1.md" in paths',
  'branch matches "release/*"',
  'branch == "release/1.0"',
  'inputs.edition == "final"',
  'inputs.unknown == ""',
  'true',
  'not false',
  'not (trigger == "manual" or author == "x")',
  'not trigger == "manual" and true',
  'false and false or true',
  'true or false and false',
  'not false and not false',
  '(true)and(true)',
  '  true  ',
])('%s holds', (text) => {
  expect(holds(read(text), facts)).toBe(true)
  expect(holds(read(`not (${text})`), facts)).toBe(false)
})

test.for([
  'trigger == "manual"',
  'message contains "[DRAFT]"',
  'message matches "chapter"',
  'paths matches "*.md"',
  'paths contains "chapters"',
  'branch matches "*"',
  'not true or false',
  'inputs.edition in []',
])('%s does not hold', (text) => {
  expect(holds(read(text), facts)).toBe(false)
})

test('what is not known about a revision does not decide whether a task can run', () => {
  const may = (text: string) =>
    (['commit', 'schedule', 'manual'] as const).filter((trigger) => mayHold(read(text), trigger))
  expect(may('author == "ada"')).toEqual(['commit', 'schedule', 'manual'])
  expect(may('trigger == "commit" and author == "ada"')).toEqual(['commit'])
  expect(may('trigger == "commit" or author == "ada"')).toEqual(['commit', 'schedule', 'manual'])
  expect(may('not (trigger == "commit" or paths matches "x")')).toEqual(['schedule', 'manual'])
  expect(may('"x" == "y"')).toEqual([])
  expect(may('inputs.a == "x" and trigger in ["manual"]')).toEqual(['manual'])
})

test.for<[text: string, at: number, message: RegExp]>([
  ['', 0, /not the end/],
  ['trigger', 7, /expected ==/],
  ['trigger ==', 10, /not the end/],
  ['trigger == commit', 11, /no commit to ask about/],
  ['trigger === "commit"', 10, /expected a field/],
  ['author < "b"', 7, /expected ==/],
  ['author == ["a"]', 10, /not a list/],
  ['["a"] contains author', 0, /not a list/],
  ['paths in ["a"]', 0, /the list of paths/],
  ['author in paths or', 18, /not the end/],
  ['author not "a"', 11, /expected in after not/],
  ['author matches branch', 15, /a pattern in quotes/],
  ['paths matches "/x"', 14, /begin at the root/],
  ['author in ["a" "b"]', 15, /a comma or \]/],
  ['author in ["a", b]', 16, /text in quotes/],
  ['author in ["a"', 14, /a comma or \]/],
  ['(true', 5, /expected \)/],
  ['true)', 4, /the end, not "\)"/],
  ['and true', 0, /expected a field/],
  ['author == "a" and "b"', 21, /expected ==/],
  ['trigger in ["comit"]', 11, /no trigger "comit"/],
  ['author == "a', 10, /quote/],
  ['author == $x', 10, /cannot stand here/],
  ['inputs == "a"', 0, /no inputs to ask about/],
  [`${'('.repeat(60)}true`, 50, /at most 50 levels/],
  [`${'not '.repeat(60)}true`, 200, /at most 50 levels/],
  [`author == "${'a'.repeat(1000)}"`, 0, /at most 1000 characters/],
])('%s is refused at %i', ([text, at, message]) => {
  const problem = parseCondition(text)
  if (!isConditionProblem(problem)) throw new Error('it was taken')
  expect(problem.message).toMatch(message)
  expect(problem.at).toBe(at)
  expect(problem.at + problem.length).toBeLessThanOrEqual(text.length)
})
