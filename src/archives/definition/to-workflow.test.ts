import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { readDefinition } from './read-definition.ts'
import type { TaskDefinition, Workflow } from './workflow.ts'

function read(text: string, path = '_workflows/a.yaml'): Workflow {
  const { workflows, problems } = readDefinition([{ path, bytes: Buffer.from(text) }])
  expect(problems.filter(({ severity }) => severity === 'error')).toEqual([])
  return workflows[0] as Workflow
}

const everything = read(readFileSync(new URL('corpus/good/all-keys.yaml', import.meta.url), 'utf8'))
const task = (workflow: Workflow, name: string) => workflow.tasks.find((one) => one.name === name) as TaskDefinition

test('a bare list is a workflow after every commit, named by its file', () => {
  const workflow = read('- {name: a, command: make}', '_workflows/my book.v2.yml')
  expect(workflow).toMatchObject({
    file: '_workflows/my book.v2.yml',
    name: 'my book.v2',
    on: { commit: { paths: [], pathsIgnore: [], authors: [] }, schedule: [], inputs: [] },
  })
})

test('with triggers, commits start a workflow only when they are among them', () => {
  expect(read('{on: {manual: }, tasks: [{name: a, command: make}]}').on.commit).toBeUndefined()
  expect(read('{on: {commit: }, tasks: [{name: a, command: make}]}').on.commit).toEqual({
    paths: [],
    pathsIgnore: [],
    authors: [],
  })
  expect(read('{tasks: [{name: a, command: make}]}').on.commit).toBeDefined()
})

test('schedules and inputs have their defaults', () => {
  expect(everything.on.schedule).toEqual([
    { cron: '*/15 8-18 * * mon-fri', timezone: 'America/New_York', overlap: 'allow' },
    { cron: '@daily', timezone: 'UTC', overlap: 'skip' },
    { cron: '0 0 L * *', timezone: 'UTC', overlap: 'skip' },
    { cron: '0 0 29 2 *', timezone: 'UTC', overlap: 'skip' },
  ])
  const input = { default: undefined, description: undefined, isRequired: false, options: undefined }
  expect(everything.on.inputs).toEqual([
    { ...input, name: 'edition', default: 'draft', description: 'which edition', options: ['draft', 'final'] },
    { ...input, name: 'year', default: '2026' },
    { ...input, name: 'reason', isRequired: true },
    { ...input, name: 'anything' },
  ])
})

test('the defaults of a file hold for the tasks that do not say otherwise', () => {
  expect(task(everything, 'publish')).toMatchObject({
    timeoutSeconds: 93_784,
    retries: 1,
    queue: 'heavy',
    isExclusive: true,
  })
  expect(task(everything, 'build.PDF_2')).toMatchObject({
    image: 'debian',
    timeoutSeconds: 90,
    retries: 0,
    queue: 'default',
  })
  expect(task(everything, 'clean-up').image).toMatch(/^registry\.example\.org:5000/)
})

test('a whole file is exclusive by its defaults, but for tasks that say otherwise', () => {
  const file = read(
    '{defaults: {exclusive: true}, tasks: [{name: a, command: make}, {name: b, command: make, exclusive: false}]}',
  )
  expect(file.tasks.map(({ name, isExclusive }) => [name, isExclusive])).toEqual([
    ['a', true],
    ['b', false],
  ])
})

test('a variable is text as it is written, and those of the task win', () => {
  const env = { LANG: 'C.UTF-8', VERSION: '1.10', EMPTY: '', ON: 'yes' }
  expect(task(everything, 'publish').env).toEqual(env)
  expect(task(everything, 'build.PDF_2').env).toEqual({ ...env, LANG: 'de_DE.UTF-8', DEBUG: 'true' })
  const shared = read('{x-e: &e {A: 0x1F, B: 1e3}, tasks: [{name: a, command: make, env: *e}]}')
  expect(task(shared, 'a').env).toEqual({ A: '0x1F', B: '1e3' })
})

test('a command is words, a script is text for a shell that stops at the first failure', () => {
  const command = ['make', 'a b', 'c d', 'e f', '--url=https://example.org/?a=1&b=2']
  expect(task(everything, 'build.PDF_2').run).toEqual({ type: 'command', command })
  expect(task(everything, 'publish').run).toEqual({ type: 'command', command: ['rsync', '-a', 'out/', '8080', 'true'] })
  expect(task(everything, 'clean-up').run).toEqual({
    type: 'script',
    script: 'rm -rf out\necho "$MILLRACE_REVISION" | tee log\n',
    shell: ['sh', '-e'],
  })
  expect(task(everything, 'indexing').run).toEqual({ type: 'uses', uses: 'index' })
  const shell = read('{defaults: {shell: bash}, tasks: [{name: a, script: make}]}')
  expect(task(shell, 'a').run).toMatchObject({ shell: ['bash', '-eo', 'pipefail'] })
})

test('what is waited for has its condition, and what is canceled includes that of the file', () => {
  expect(task(everything, 'build.PDF_2').depends).toEqual([
    { name: 'indexing', isPrevious: false, when: 'succeeded' },
    { name: 'build.PDF_2', isPrevious: true, when: 'succeeded' },
  ])
  expect(task(everything, 'indexing').depends).toEqual([{ name: 'indexing', isPrevious: true, when: 'finished' }])
  expect(task(everything, 'publish').cancels).toEqual([
    { name: 'clean-up', isPrevious: true },
    { name: 'clean-up', isPrevious: false },
    { name: 'publish', isPrevious: true },
  ])
  expect(everything.commitDepends).toEqual([
    { name: 'indexing', isPrevious: true, when: 'finished' },
    { name: 'build.PDF_2', isPrevious: true, when: 'succeeded' },
  ])
  expect(everything.tasks.map(({ name }) => name)).not.toContain('COMMIT')
})

test('JSON gives the same as YAML', () => {
  const yaml = read('tasks:\n  - name: a\n    command: [make, "ü"]\n    depends: PREV\n    retries: 2\n')
  const json = read(
    '{"tasks": [{"name": "a", "command": ["make", "\\u00fc"], "depends": "PREV", "retries": 2}]}',
    '_workflows/a.json',
  )
  expect(json.tasks).toEqual(yaml.tasks)
})
