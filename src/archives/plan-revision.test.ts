import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  announce,
  commitFiles,
  DOCUMENT,
  edgesOf,
  performing,
  planned,
  registered,
  shown,
  stateOf,
  untilState,
  useArchiveServer,
} from '../../test/archives.ts'
import { startApache } from '../../test/repositories/apache.ts'
import { gitFiles } from '../../test/repositories/git.ts'
import type { Ground } from '../../test/repositories/ground.ts'
import { svnFiles, svnServe } from '../../test/repositories/svn.ts'
import { scratch } from '../../test/scratch.ts'
import type { TestServer } from '../../test/server.ts'
import { openRepository } from '../vcs/index.ts'

const workflow = (text: string) => ({ '_workflows/a.yaml': text })

/** The edges of the document's drawing, and the implicit ones that it leaves out. */
const DOCUMENT_EDGES = [
  '1:COMMIT <-- 2:COMMIT',
  '2:COMMIT <-- 2:indexing',
  '2:COMMIT <-- 2:build-PDF',
  '2:indexing <-- 2:build-PDF',
  '2:COMMIT <-- 3:COMMIT',
  '3:COMMIT <-- 3:indexing',
  '2:indexing <-- 3:indexing',
  '3:COMMIT <-- 3:build-PDF',
  '3:indexing <-- 3:build-PDF',
  '2:build-PDF <!= 3:build-PDF',
]

const timeOf = (field: string) => async (server: TestServer, key: string) =>
  Date.parse((await server.ask('GET', `/v1/tasks/${encodeURIComponent(key)}`)).json[field])
const finishedAt = timeOf('finished_at')
const startedAt = timeOf('started_at')

const server = useArchiveServer()
let ground: Ground
beforeAll(async () => {
  ground = await svnFiles()
})
afterAll(() => ground[Symbol.asyncDispose]())

describe.each([
  ['svn by file://', svnFiles],
  ['svn by svn://', svnServe],
  ['svn by http://, with a password', () => startApache('svn')],
  ['git', gitFiles],
])('%s', (_, make) => {
  test('A1: notices 3 and 2, each twice, give the graph and the course of the document', async () => {
    await using own = await make()
    const work = await performing(server.database)
    const { name, plain } = await registered(server, own, { from: 1, first: [{ 'README.md': 'x' }] })
    await planned(server, name, 1)
    work.block('2:build-PDF', '3:indexing')
    await commitFiles(plain, workflow(DOCUMENT))
    await commitFiles(plain, { 'chapter.txt': 'y' })
    expect(await announce(server, name, 3)).toBe(202)
    await planned(server, name, 3)
    expect([await announce(server, name, 2), await announce(server, name, 3)]).toEqual([200, 200])
    expect((await edgesOf(server, name, 2, 3)).sort()).toEqual([...DOCUMENT_EDGES].sort())
    await work.seen('start 2:build-PDF')
    work.free('3:indexing')
    await untilState(server, `${name}@3:build-PDF`, 'succeeded')
    // The events of the document, in its order: both commits are completed before anything is triggered.
    const told = await Promise.all([2, 3].map((rev) => finishedAt(server, `${name}@${rev}:COMMIT`)))
    expect(told).toEqual(told.toSorted((a, b) => a - b))
    expect(told[1] as number).toBeLessThanOrEqual(await startedAt(server, `${name}@2:indexing`))
    expect(work.log).toEqual([
      'start 2:indexing',
      'end 2:indexing',
      'start 2:build-PDF',
      'start 3:indexing',
      'end 3:indexing',
      'stop 2:build-PDF',
      'start 3:build-PDF',
      'end 3:build-PDF',
    ])
    expect(await stateOf(server, `${name}@2:build-PDF`)).toBe('canceled')
    const { tasks } = await shown(server, name, 2)
    const later = (await shown(server, name, 3)).tasks.find(({ key }) => key === `${name}@3:build-PDF`)
    expect(tasks).toMatchObject([{}, {}, { superseded_by: (later as unknown as { id: string }).id }])
  })
})

test.each([
  ['5, 3, 4, 2', [5, 3, 4, 2]],
  ['5, 3, 4, 2, each twice', [5, 5, 3, 3, 4, 4, 2, 2]],
  ['5, 3, 4, 2, and all of them again', [5, 3, 4, 2, 5, 3, 4, 2]],
  ['5 alone', [5]],
  ['3, 2, 5: the one of 4 is lost', [3, 2, 5]],
  ['2, 3, 4, 5', [2, 3, 4, 5]],
])('A1: notices %s start every revision once and in order', async (_, revs) => {
  const work = await performing(server.database)
  const { name, plain } = await registered(server, ground, { from: 1 })
  await commitFiles(plain, workflow(DOCUMENT))
  for (const rev of [2, 3, 4, 5]) await commitFiles(plain, { 'a.txt': String(rev) })
  for (const rev of revs) expect([200, 202]).toContain(await announce(server, name, rev))
  await untilState(server, `${name}@5:build-PDF`, 'succeeded')
  const indexing = work.log.filter((line) => line.endsWith(':indexing'))
  expect(indexing).toEqual([1, 2, 3, 4, 5].flatMap((rev) => [`start ${rev}:indexing`, `end ${rev}:indexing`]))
  const builds = work.log.filter((line) => /^start .*:build-PDF$/.test(line))
  expect(builds).toEqual([...new Set(builds)].toSorted())
  // Which builds it cancels depends on those that were over.
  expect((await edgesOf(server, name, 5)).filter((edge) => edge.includes('<--')).toSorted()).toEqual([
    '4:COMMIT <-- 5:COMMIT',
    '4:indexing <-- 5:indexing',
    '5:COMMIT <-- 5:build-PDF',
    '5:COMMIT <-- 5:indexing',
    '5:indexing <-- 5:build-PDF',
  ])
})

test('A4: a task waits for the nearest earlier revision that has it', async () => {
  const work = await performing(server.database)
  const { name, plain } = await registered(server, ground, { from: 1 })
  const filtered =
    'on: { commit: { paths: ["chapters/**"] } }\ntasks: [{ name: indexing, command: make, depends: PREV }]'
  await commitFiles(plain, workflow(filtered))
  work.block('2:indexing')
  await commitFiles(plain, { 'chapters/1.txt': 'x' })
  await commitFiles(plain, { 'other.txt': 'x' })
  await commitFiles(plain, { 'chapters/1.txt': 'y' })
  await announce(server, name, 4)
  await work.seen('start 2:indexing')
  await planned(server, name, 4)
  expect((await shown(server, name, 3)).tasks.map(({ key }) => key)).toEqual([`${name}@3:COMMIT`])
  const { json } = await server.ask('GET', `/v1/tasks/${name}@4:indexing`)
  expect(json.why).toContain(`${name}@2:indexing`)
  work.free('2:indexing')
  await untilState(server, `${name}@4:indexing`, 'succeeded')
  expect(work.log).toEqual(['start 2:indexing', 'end 2:indexing', 'start 4:indexing', 'end 4:indexing'])
})

test('A5: a failure skips what needed it, and the next revision goes on', async () => {
  const work = await performing(server.database)
  const { name, plain } = await registered(server, ground, { from: 1 })
  work.failing.add('1:indexing')
  await commitFiles(plain, workflow(DOCUMENT))
  await commitFiles(plain, { 'a.txt': 'x' })
  await announce(server, name, 2)
  await untilState(server, `${name}@2:build-PDF`, 'succeeded')
  const { json } = await server.ask('GET', `/v1/tasks/${name}@1:build-PDF`)
  expect(json).toMatchObject({ state: 'skipped', why: expect.stringContaining(`${name}@1:indexing`) })
  expect([(await shown(server, name, 1))['state'], (await shown(server, name, 2))['state']]).toEqual([
    'failed',
    'succeeded',
  ])
})

test('A6: each revision has the definitions it was committed with', async () => {
  const { name, plain } = await registered(server, ground, { from: 1 })
  const task = (one: string) => `- { name: ${one}, command: make }`
  await commitFiles(plain, workflow(task('a')))
  await commitFiles(plain, { ...workflow(task('b')), '_workflows/more.json': '[{"name":"c","command":"make"}]' })
  await commitFiles(plain, { '_workflows/a.yaml': null })
  await commitFiles(plain, { _workflows: null })
  await commitFiles(plain, { 'a.txt': 'x' })
  await announce(server, name, 5)
  await planned(server, name, 5)
  const tasks = async (rev: number) =>
    (await shown(server, name, rev)).tasks.map(({ key }) => key.split(':')[1]).slice(1)
  expect(await Promise.all([1, 2, 3, 4, 5].map(tasks))).toEqual([['a'], ['b', 'c'], ['c'], [], []])
})

test('A7: broken files are reported with their places, and block nothing', async () => {
  await performing(server.database)
  const { name, plain } = await registered(server, ground, { from: 1 })
  await commitFiles(plain, {
    ...workflow('- { name: a, depends: [b, x], command: make, script: x }\n- { name: b, depends: a, command: make }\n'),
    '_workflows/b.yaml': '- { name: b, command: make }\n- { name: PREV, command: make }\n',
  })
  await commitFiles(plain, { ...workflow('- { name: a, command: make }'), '_workflows/b.yaml': null })
  await announce(server, name, 2)
  await untilState(server, `${name}@2:a`, 'succeeded')
  expect(await stateOf(server, `${name}@1:COMMIT`)).toBe('succeeded')
  const { problems, tasks, state } = await shown(server, name, 1)
  expect(state).toBe('broken')
  expect(tasks).toHaveLength(1)
  const found = problems as { code: string; file: string; line: number; column: number }[]
  expect(new Set(found.map(({ code }) => code))).toEqual(
    new Set(['unknown-depends', 'command-and-script', 'cycle', 'duplicate-task', 'reserved-name']),
  )
  for (const { file, line, column } of found)
    expect({ file, line, column }).toEqual({
      file: expect.stringMatching(/^_workflows\/[ab]\.yaml$/),
      line: expect.any(Number),
      column: expect.any(Number),
    })
})

test('A15: [skip millrace] plans no tasks', async () => {
  const { name, plain } = await registered(server, ground, { from: 1, first: [workflow(DOCUMENT)] })
  await commitFiles(plain, { 'a.txt': 'x' }, 'correct a comma [skip millrace]')
  await announce(server, name, 2)
  await planned(server, name, 2)
  expect((await shown(server, name, 2)).tasks.map(({ key }) => key)).toEqual([`${name}@2:COMMIT`])
})

test('commits that tasks make are counted, and after five no more tasks follow', async () => {
  const { name, plain } = await registered(server, ground, {
    from: 1,
    first: [workflow('- { name: a, command: make }')],
  })
  await using cache = await scratch()
  const repository = openRepository({ ...plain.options, cacheDir: cache.path })
  for (const rev of [1, 2, 3, 4, 5, 6]) {
    const content = Buffer.from(String(rev))
    const changes = [{ type: 'put', path: 'out.txt', content } as const]
    await repository.commitChanges({ message: 'made', marker: `${name}@${rev}:a/${rev}`, changes })
  }
  await announce(server, name, 7)
  await planned(server, name, 7)
  const [sixth, seventh] = [await shown(server, name, 6), await shown(server, name, 7)]
  expect([sixth['depth'], sixth.tasks.length, seventh['depth'], seventh.tasks.length]).toEqual([5, 2, 6, 1])
  expect(seventh['problems']).toMatchObject([{ code: 'machine-commits-too-deep', severity: 'error' }])
  expect(seventh['cause']).toBe(`${name}@6:a/6`)
})

test('exclusive tasks run alone in their archive and in the order of revisions; others go on', async () => {
  const work = await performing(server.database)
  const text = '- { name: alone, command: make, exclusive: true }\n- { name: free, command: make }\n'
  const { name, plain } = await registered(server, ground, { from: 1, first: [workflow(text)] })
  work.block('1:alone')
  await commitFiles(plain, { 'a.txt': '2' })
  await commitFiles(plain, { 'a.txt': '3' })
  await announce(server, name, 3)
  await untilState(server, `${name}@3:free`, 'succeeded')
  expect([await stateOf(server, `${name}@2:alone`), await stateOf(server, `${name}@3:alone`)]).toEqual([
    'waiting',
    'waiting',
  ])
  // One that is canceled in between opens no gap.
  await commitFiles(plain, { 'a.txt': '4' })
  await announce(server, name, 4)
  await planned(server, name, 4)
  await server.ask('POST', `/v1/tasks/${name}@3:alone/cancel`)
  await untilState(server, `${name}@3:alone`, 'canceled')
  expect(await stateOf(server, `${name}@4:alone`)).toBe('waiting')
  work.free('1:alone')
  await untilState(server, `${name}@4:alone`, 'succeeded')
  const alone = work.log.filter((line) => line.endsWith(':alone'))
  expect(alone).toEqual([1, 2, 4].flatMap((rev) => [`start ${rev}:alone`, `end ${rev}:alone`]))
})

test('what was asked for again is canceled by a later revision, too', async () => {
  const work = await performing(server.database)
  const text = '- { name: build, command: make, cancels: PREV }'
  const { name, plain } = await registered(server, ground, { from: 1, first: [workflow(text)] })
  await untilState(server, `${name}@1:build`, 'succeeded')
  await commitFiles(plain, { 'a.txt': '2' })
  work.failing.add('2:build')
  await announce(server, name, 2)
  await untilState(server, `${name}@2:build`, 'failed')
  await commitFiles(plain, { 'a.txt': '3' })
  await announce(server, name, 3)
  await untilState(server, `${name}@3:build`, 'succeeded')
  // The planning of revision 3 has found it over; asked for again, it is not.
  work.block('2:build')
  expect((await server.ask('POST', `/v1/tasks/${name}@2:build/retry`)).status).toBeLessThan(300)
  await untilState(server, `${name}@2:build`, 'running')
  await commitFiles(plain, { 'a.txt': '4' })
  await announce(server, name, 4)
  await untilState(server, `${name}@4:build`, 'succeeded')
  expect(await stateOf(server, `${name}@2:build`)).toBe('canceled')
})

test('what was asked for again is canceled, too, when a waiting one stands between', async () => {
  const work = await performing(server.database)
  const text = '- { name: gate, command: make }\n- { name: build, command: make, depends: gate, cancels: PREV }'
  work.failing.add('1:build')
  const { name, plain } = await registered(server, ground, { from: 1, first: [workflow(text)] })
  await untilState(server, `${name}@1:build`, 'failed')
  work.block('2:gate', '1:build')
  await commitFiles(plain, { 'a.txt': '2' })
  await announce(server, name, 2)
  await untilState(server, `${name}@2:gate`, 'running')
  // The second one was planned when the first was over, and cannot have it in its list.
  await server.ask('POST', `/v1/tasks/${name}@1:build/retry`)
  await untilState(server, `${name}@1:build`, 'running')
  await commitFiles(plain, { 'a.txt': '3' })
  await announce(server, name, 3)
  await untilState(server, `${name}@3:build`, 'succeeded')
  expect([await stateOf(server, `${name}@1:build`), await stateOf(server, `${name}@2:build`)]).toEqual([
    'canceled',
    'canceled',
  ])
})
