import { expect, test } from 'vitest'
import type { RevisionFacts, RunTrigger } from './choose-tasks.ts'
import { toNotation } from './notation.ts'
import { type History, namesToLookUp, type Plan, plan } from './plan.ts'
import { type Definition, readDefinition } from './read-definition.ts'
import { RememberedHistory } from './remembered-history.ts'

function define(...texts: string[]): Definition {
  return readDefinition(texts.map((text, i) => ({ path: `_workflows/f${i}.yaml`, bytes: Buffer.from(text) })))
}

/** An archive whose revisions are planned one after the other, and whose tasks end when told. */
class Archive {
  readonly history = new RememberedHistory()
  readonly plans: Plan[] = []

  commit(definition: Definition, facts: Partial<RevisionFacts> = {}): Plan {
    return this.run(definition, { type: 'commit' }, { rev: this.plans.length + 1, ...facts })
  }

  run(definition: Definition, trigger: RunTrigger, facts: Partial<RevisionFacts> = {}): Plan {
    const all = {
      archive: 'A',
      rev: 1,
      author: 'ada',
      message: '',
      branch: '',
      changedPaths: ['a.txt'],
      ...facts,
      trigger,
    }
    const planned = plan(definition, all, this.history.before(all))
    this.history.remember(planned)
    this.plans.push(planned)
    return planned
  }
}

/** What a task waits for and cancels, as text. */
function edges(planned: Plan, name: string): string[] {
  const task = name === 'COMMIT' ? planned.commit : planned.tasks.find((one) => one.name === name)
  if (task === undefined) return ['absent']
  const cancels = 'cancels' in task ? (task.cancels as string[]) : []
  return [...task.requires.map(({ key, when }) => `${key} ${when}`), ...cancels.map((key) => `cancels ${key}`)]
}

const names = (planned: Plan) => planned.tasks.map(({ name }) => name)
const NOTHING = define()

const SEED = define(`
- name: indexing
  uses: index
  depends:
    - PREV
- name: build-PDF
  command: make
  depends:
    - indexing
  cancels:
    - PREV
`)

test('the example of the design gives the graph of the design', () => {
  const archive = new Archive()
  archive.commit(NOTHING)
  archive.commit(SEED)
  archive.commit(SEED)
  expect(toNotation(archive.plans.slice(1), { legend: true })).toBe(`\
// <-- means "depends/waits for"
// <!= means "cancels/supersedes"

rev-1:COMMIT    <-- rev-2:COMMIT     // added implicitly with rev-2
rev-2:COMMIT    <-- rev-2:indexing   // added implicitly with rev-2
rev-2:indexing  <-- rev-2:build-PDF
rev-2:COMMIT    <-- rev-3:COMMIT     // added implicitly with rev-3
rev-3:COMMIT    <-- rev-3:indexing   // added implicitly with rev-3
rev-2:indexing  <-- rev-3:indexing
rev-2:build-PDF <!= rev-3:build-PDF
rev-3:indexing  <-- rev-3:build-PDF
`)
})

test('every task waits for the COMMIT of its revision, and that for the one before, however it ended', () => {
  const archive = new Archive()
  expect(edges(archive.commit(SEED), 'COMMIT')).toEqual([])
  const second = archive.commit(SEED)
  expect(edges(second, 'COMMIT')).toEqual(['A@1:COMMIT finished'])
  expect(edges(second, 'indexing')).toEqual(['A@2:COMMIT succeeded', 'A@1:indexing finished'])
  expect(edges(second, 'build-PDF')).toEqual([
    'A@2:COMMIT succeeded',
    'A@2:indexing succeeded',
    'cancels A@1:build-PDF',
  ])
})

test('the conditions of requirements are as written', () => {
  const archive = new Archive()
  const definition = define(`
- { name: a, command: make, depends: { task: PREV, when: succeeded } }
- { name: b, command: make, depends: [{ task: a, when: failed }, "PREV:a"] }
- { name: c, command: make, depends: [{ task: a, when: finished }, { task: "PREV:b", when: failed }] }
`)
  archive.commit(definition)
  const second = archive.commit(definition)
  expect(edges(second, 'a')).toEqual(['A@2:COMMIT succeeded', 'A@1:a succeeded'])
  expect(edges(second, 'b')).toEqual(['A@2:COMMIT succeeded', 'A@2:a failed', 'A@1:a finished'])
  expect(edges(second, 'c')).toEqual(['A@2:COMMIT succeeded', 'A@2:a finished', 'A@1:b failed'])
})

test('a task waits for the nearest earlier revision that has it, and overtakes none', () => {
  const archive = new Archive()
  const definition = define(`
on: { commit: { paths: ["chapters/**"] } }
tasks: [{ name: indexing, uses: index, depends: PREV }]
`)
  archive.commit(definition, { changedPaths: ['chapters/1'] })
  expect(names(archive.commit(definition, { changedPaths: ['other'] }))).toEqual([])
  archive.commit(define('- {name: indexing, command: "'))
  const fourth = archive.commit(definition, { changedPaths: ['chapters/2'] })
  expect(edges(fourth, 'indexing')).toEqual(['A@4:COMMIT succeeded', 'A@1:indexing finished'])
  expect(edges(fourth, 'COMMIT')).toEqual(['A@3:COMMIT finished'])
})

test('cancels covers every earlier task of the name that is not over', () => {
  const archive = new Archive()
  for (let i = 0; i < 4; i += 1) archive.commit(SEED)
  archive.history.end('A@2:build-PDF')
  const fifth = archive.commit(SEED)
  expect(fifth.tasks[1]?.cancels).toEqual(['A@1:build-PDF', 'A@3:build-PDF', 'A@4:build-PDF'])
})

test('cancels at the top holds for each task of the file and no other', () => {
  const archive = new Archive()
  const definition = define(
    `{ cancels: [PREV, "PREV:c", b], tasks: [{ name: a, command: make }, { name: b, command: make, cancels: a }] }`,
    '[{ name: c, command: make }]',
  )
  archive.commit(definition)
  const second = archive.commit(definition)
  expect(second.tasks.map(({ cancels }) => cancels)).toEqual([
    ['A@1:a', 'A@1:c', 'A@2:b'],
    ['A@2:a', 'A@1:b', 'A@1:c'],
    [],
  ])
})

test('COMMIT waits for what the files add', () => {
  const archive = new Archive()
  const definition = define(
    '[{ name: COMMIT, depends: ["PREV:a", { task: "PREV:b", when: succeeded }] }, { name: a, command: make }]',
    '[{ name: COMMIT, depends: PREV }, { name: b, command: make }]',
  )
  archive.commit(definition)
  expect(edges(archive.commit(definition), 'COMMIT')).toEqual([
    'A@1:COMMIT finished',
    'A@1:a finished',
    'A@1:b succeeded',
  ])
})

test('an exclusive task waits for all exclusive ones of earlier revisions and locks the archive', () => {
  const archive = new Archive()
  const definition = define(
    '[{ name: a, command: make, exclusive: true }, { name: b, command: make, exclusive: true }, { name: c, command: make }]',
  )
  const first = archive.commit(definition)
  expect(first.tasks.map(({ locks }) => locks)).toEqual([['archive:A'], ['archive:A'], []])
  archive.history.end('A@1:a')
  archive.commit(definition)
  const third = archive.commit(definition)
  expect(edges(third, 'b')).toEqual(['A@3:COMMIT succeeded', 'A@1:b finished', 'A@2:a finished', 'A@2:b finished'])
  expect(edges(third, 'c')).toEqual(['A@3:COMMIT succeeded'])
})

test.for<[filter: string, paths: string[], isThere: boolean]>([
  ['paths: ["chapters/**"]', ['chapters/1', 'x'], true],
  ['paths: ["chapters/**"]', ['x'], false],
  ['paths: ["chapters/**"]', ['chapters/'], true],
  ['paths: ["chapters/**"]', [], false],
  ['paths-ignore: ["drafts/**"]', ['drafts/1'], false],
  ['paths-ignore: ["drafts/**"]', ['drafts/1', 'x'], true],
  ['paths-ignore: ["drafts/**"]', ['drafts/'], false],
  ['paths-ignore: ["drafts/*.md"]', ['drafts/'], true],
  ['paths-ignore: ["drafts/**"]', [], true],
  ['paths: ["a/**"], paths-ignore: ["a/b/**"]', ['a/b/1', 'x'], false],
  ['paths: ["a/**"], paths-ignore: ["a/b/**"]', ['a/b/1', 'a/1'], true],
  ['authors: [grace, "ad?"]', ['x'], true],
  ['authors: [grace]', ['x'], false],
  ['paths: [], paths-ignore: [], authors: []', [], true],
])('with %s, a change of %j: %s', ([filter, changedPaths, isThere]) => {
  const planned = new Archive().commit(
    define(`{ on: { commit: { ${filter} } }, tasks: [{ name: a, command: make }] }`),
    { changedPaths },
  )
  expect(names(planned)).toEqual(isThere ? ['a'] : [])
  if (!isThere)
    expect(planned.absent).toEqual([
      { name: 'a', workflow: 'f0', reason: filter.startsWith('authors') ? 'author' : 'paths' },
    ])
})

test('a message with [skip millrace] plans COMMIT alone', () => {
  const planned = new Archive().commit(SEED, { message: 'typo\n\n[Skip Millrace]' })
  expect(names(planned)).toEqual([])
  expect(planned.commit?.key).toBe('A@1:COMMIT')
  expect(planned.absent.map(({ reason }) => reason)).toEqual(['skip_marker', 'skip_marker'])
})

test('broken files plan COMMIT alone, without what they add to it', () => {
  const archive = new Archive()
  archive.commit(define('[{ name: a, command: make }]'))
  const broken = define('[{ name: COMMIT, depends: "PREV:a" }, { name: a, command: make }]', '[{ name: b }]')
  expect(broken.workflows).toEqual([])
  const planned = archive.commit(broken)
  expect(names(planned)).toEqual([])
  expect(edges(planned, 'COMMIT')).toEqual(['A@1:COMMIT finished'])
})

const CHAIN = define(`
- { name: fetch, command: make }
- { name: compile, command: make, depends: [fetch, PREV], if: message contains "compile" }
- { name: package, command: make, depends: compile }
- { name: report, command: make, depends: { task: compile, when: finished } }
- { name: complain, command: make, depends: { task: compile, when: failed } }
- { name: console, command: make, depends: complain }
- { name: tidy, command: make, depends: { task: complain, when: finished } }
`)

test('what stands in for an absent task is its nearest earlier one and what it would have waited for', () => {
  const archive = new Archive()
  archive.commit(CHAIN, { message: 'compile' })
  const second = archive.commit(CHAIN)
  expect(edges(second, 'package')).toEqual(['A@2:COMMIT succeeded', 'A@1:compile finished', 'A@2:fetch succeeded'])
  // Whoever waits for the end alone would have gone on after a failed fetch as well.
  expect(edges(second, 'report')).toEqual(['A@2:COMMIT succeeded', 'A@1:compile finished', 'A@2:fetch finished'])
  expect(toNotation([second])).toContain('rev-1:compile  <-- rev-2:package  // instead of compile, absent at rev-2\n')
})

test('an absent task that is needed in two ways is stood in for in both', () => {
  const archive = new Archive()
  const absent = 'command: make, if: message contains "x"'
  const definition = define(`
- { name: y, command: make }
- { name: a, ${absent}, depends: y }
- { name: b, ${absent}, depends: a }
- { name: x, ${absent}, depends: [{ task: a, when: finished }, b] }
- { name: z, command: make, depends: x }
`)
  expect(edges(archive.commit(definition), 'z')).toEqual(['A@1:COMMIT succeeded', 'A@1:y finished', 'A@1:y succeeded'])
})

test('who waits for the failure of an absent task is absent, and who needs that one as well', () => {
  const archive = new Archive()
  expect(names(archive.commit(CHAIN, { message: 'compile' }))).toHaveLength(7)
  const second = archive.commit(CHAIN)
  expect(names(second)).toEqual(['fetch', 'package', 'report', 'tidy'])
  expect(second.absent.map(({ name, reason }) => `${name} ${reason}`)).toEqual([
    'compile condition',
    'complain cannot_fail',
    'console cannot_fail',
  ])
  expect(edges(second, 'tidy')).toEqual([
    'A@2:COMMIT succeeded',
    'A@1:complain finished',
    'A@1:compile finished',
    'A@2:fetch finished',
  ])
})

const BOOK = define(
  `
on:
  commit:
  manual: { inputs: { edition: { default: draft, options: [draft, final] }, by: { required: true } } }
tasks:
  - { name: indexing, uses: index, depends: PREV }
  - { name: book, command: make, depends: indexing, cancels: PREV, if: 'inputs.edition == "final" or trigger == "commit"' }
`,
  '[{ name: other, command: make, depends: indexing }]',
)

test('a run by hand has keys of its own and waits for what its revision has already', () => {
  const archive = new Archive()
  // Whoever starts a run, an input has its default where none is given.
  expect(archive.commit(BOOK).tasks[1]?.env).toEqual({ MILLRACE_INPUT_EDITION: 'draft' })
  const run = archive.run(BOOK, { type: 'manual', run: '7', workflow: 'f0', inputs: { by: 'grace', edition: 'final' } })
  expect(run.commit).toBeUndefined()
  expect(edges(run, 'indexing')).toEqual(['A@1:COMMIT succeeded', 'A@1:indexing finished'])
  expect(edges(run, 'book')).toEqual(['A@1:COMMIT succeeded', 'A@1:indexing#7 succeeded', 'cancels A@1:book'])
  expect(run.tasks.map(({ key }) => key)).toEqual(['A@1:indexing#7', 'A@1:book#7'])
  expect(run.tasks[1]?.env).toEqual({ MILLRACE_INPUT_EDITION: 'final', MILLRACE_INPUT_BY: 'grace' })
  expect(run.absent).toEqual([{ name: 'other', workflow: 'f1', reason: 'not_chosen' }])
  const next = archive.commit(BOOK, { rev: 2 })
  expect(edges(next, 'indexing')).toEqual(['A@2:COMMIT succeeded', 'A@1:indexing finished', 'A@1:indexing#7 finished'])
  expect(edges(next, 'book').slice(-2)).toEqual(['cancels A@1:book', 'cancels A@1:book#7'])
})

test('a task alone runs by hand after what it depends on at its revision succeeded', () => {
  const archive = new Archive()
  archive.commit(BOOK)
  archive.commit(BOOK)
  const run = archive.run(BOOK, { type: 'manual', run: '7', task: 'other' }, { rev: 1 })
  expect(names(run)).toEqual(['other'])
  expect(edges(run, 'other')).toEqual(['A@1:COMMIT succeeded', 'A@1:indexing succeeded'])
})

test('a run by hand has the condition of its task', () => {
  const archive = new Archive()
  archive.commit(BOOK)
  const run = archive.run(BOOK, { type: 'manual', run: '7', task: 'book', inputs: { by: 'grace' } })
  expect(names(run)).toEqual([])
  expect(run.absent).toContainEqual({ name: 'book', workflow: 'f0', reason: 'condition' })
})

test.for<[what: object, code: string, message: RegExp]>([
  [{ workflow: 'f9' }, 'unknown_workflow', /no workflow is called "f9"/],
  [{ task: 'indexin' }, 'unknown_workflow_task', /no task is called "indexin"/],
  [{ workflow: 'f0' }, 'invalid_input', /"by" must be given/],
  [{ workflow: 'f0', inputs: { by: '', x: '1' } }, 'invalid_input', /no input "x"/],
  [{ workflow: 'f0', inputs: { by: '', edition: 'x' } }, 'invalid_input', /"edition" is "x", and none of draft, final/],
  [{ workflow: 'f1', inputs: { toString: 'x' } }, 'invalid_input', /no input "toString"/],
])('a run by hand of %j is refused', ([what, code, message]) => {
  const archive = new Archive()
  archive.commit(BOOK)
  const start = () => archive.run(BOOK, { type: 'manual', run: '7', ...what } as RunTrigger)
  expect(start).toThrow(message)
  expect(start).toThrow(expect.objectContaining({ code, remedy: expect.any(String) }))
})

test('nothing of broken files is run by hand', () => {
  const broken = define('[{ name: a }]')
  expect(() => new Archive().run(broken, { type: 'manual', run: '7', task: 'a' })).toThrow(
    expect.objectContaining({ code: 'definition_broken', message: 'the workflow files of revision 1 have 1 error' }),
  )
})

test('a scheduled run waits for the one before it at the same revision', () => {
  const archive = new Archive()
  const definition = define(
    '{ on: { schedule: { cron: "@daily" } }, tasks: [{ name: a, command: make, depends: PREV }] }',
  )
  expect(archive.commit(definition).absent).toEqual([{ name: 'a', workflow: 'f0', reason: 'other_trigger' }])
  archive.run(definition, { type: 'schedule', run: 'mon', workflow: 'f0' })
  const second = archive.run(definition, { type: 'schedule', run: 'tue', workflow: 'f0' })
  expect(edges(second, 'a')).toEqual(['A@1:COMMIT succeeded', 'A@1:a#mon finished'])
})

test('a plan carries what the task runs, with every default', () => {
  const [task] = new Archive().commit(define('[{ name: a, script: make }]')).tasks
  expect(task).toEqual({
    name: 'a',
    key: 'A@1:a',
    workflow: 'f0',
    requires: [{ key: 'A@1:COMMIT', when: 'succeeded', because: 'implicit' }],
    cancels: [],
    run: { type: 'script', script: 'make', shell: ['sh', '-e'] },
    image: null,
    env: {},
    secrets: [],
    artifacts: [],
    locks: [],
    timeoutSeconds: 3600,
    retries: 0,
    queue: 'default',
  })
})

test('nothing is looked up but what was announced', () => {
  for (const definition of [SEED, CHAIN, BOOK]) {
    const { previous, unfinished } = namesToLookUp(definition)
    const asked = { previous: new Set<string>(), unfinished: new Set<string>() }
    const history: History = {
      previousOf: (name) => void asked.previous.add(name),
      unfinishedOf: (name) => [...asked.unfinished.add(name)].slice(0, 0),
      unfinishedExclusive: () => [],
    }
    const facts = { archive: 'A', rev: 1, author: '', message: '', branch: '', changedPaths: [] }
    plan(definition, { ...facts, trigger: { type: 'commit' } }, history)
    expect(previous).toEqual(expect.arrayContaining([...asked.previous]))
    expect(unfinished).toEqual(expect.arrayContaining([...asked.unfinished]))
  }
})
