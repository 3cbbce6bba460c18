import { expect, test } from 'vitest'
import { announce, performing, planned, shown, stateOf, untilState, useArchiveServer } from '../../test/archives.ts'
import { scratch } from '../../test/scratch.ts'
import { connect } from '../engine/index.ts'
import { createArchives } from './archives.ts'

const FILES = [
  {
    path: '_workflows/book.yaml',
    text: `
on: { commit: {}, manual: { inputs: { edition: { default: draft } } } }
tasks:
  - { name: a, command: make, depends: PREV }
  - { name: b, command: make, depends: a, cancels: PREV }
`,
  },
]

const server = useArchiveServer()
let made = 0

async function planner(files: typeof FILES = FILES) {
  made += 1
  const name = `A${made}`
  const work = await performing(server.database)
  const { path } = await scratch()
  const millrace = await connect({ databaseUrl: server.database.databaseUrl })
  const archives = createArchives({
    pool: server.database.pool,
    millrace,
    cacheDir: path,
    pollSeconds: 3600,
    onError: (error) => expect.fail(String(error)),
  })
  await server.ask('PUT', `/v1/archives/${name}`, { body: { source: { type: 'push' } } })
  const tell = (rev: number) => server.ask('POST', `/v1/archives/${name}/commits`, { body: { rev, files } })
  return { name, work, archives, tell, close: () => millrace.close() }
}

const by = { type: 'manual', by: 'ada', inputs: {} } as const

test('a run adds tasks of its own to a revision, after those that it has', async () => {
  const { name, archives, tell, close } = await planner()
  await tell(1)
  await untilState(server, `${name}@1:b`, 'succeeded')
  const run = await archives.planRun(name, 1, {
    trigger: { ...by, run: '', inputs: { edition: 'final' } },
    chosen: { workflow: 'book' },
  })
  expect(run).toMatchObject({ run: '1', tasks: [{ key: `${name}@1:a#1` }, { key: `${name}@1:b#1` }] })
  await untilState(server, `${name}@1:b#1`, 'succeeded')
  const { tasks, edges } = await shown(server, name, 1)
  expect(tasks.map(({ key }) => key)).toEqual([
    `${name}@1:COMMIT`,
    `${name}@1:a`,
    `${name}@1:b`,
    `${name}@1:a#1`,
    `${name}@1:b#1`,
  ])
  expect(edges).toContainEqual({ from: `${name}@1:a`, to: `${name}@1:a#1`, kind: 'finished' })
  const { json } = await server.ask('GET', `/v1/tasks/${run.tasks[0]?.id}`)
  expect(json.payload).toMatchObject({
    trigger: { type: 'manual', run: '1', by: 'ada', inputs: { edition: 'final' } },
    env: { MILLRACE_INPUT_EDITION: 'final' },
  })
  await close()
})

test('a run of some tasks has those alone, and a later commit waits for it and cancels it', async () => {
  const { name, work, archives, tell, close } = await planner()
  await tell(1)
  await untilState(server, `${name}@1:b`, 'succeeded')
  work.block('1:b#nightly')
  const run = await archives.planRun(name, 1, { trigger: { ...by, run: 'nightly' }, chosen: { tasks: ['a', 'b'] } })
  expect(run.tasks.map(({ key }) => key)).toEqual([`${name}@1:a#nightly`, `${name}@1:b#nightly`])
  await work.seen('start 1:b#nightly')
  await tell(2)
  await untilState(server, `${name}@2:b`, 'succeeded')
  await untilState(server, `${name}@1:b#nightly`, 'canceled')
  expect((await shown(server, name, 2)).edges).toContainEqual({
    from: `${name}@1:a#nightly`,
    to: `${name}@2:a`,
    kind: 'finished',
  })
  await close()
})

const EXCLUSIVE = [
  {
    path: '_workflows/exclusive.yaml',
    text: `
on: { commit: {}, manual: {} }
tasks:
  - { name: gate, command: make }
  - { name: alone, command: make, depends: gate, exclusive: true }
`,
  },
]

test('exclusive tasks wait for those of earlier revisions that are retried or run by hand later', async () => {
  const { name, work, archives, tell, close } = await planner(EXCLUSIVE)
  work.failing.add('1:alone')
  await tell(1)
  await untilState(server, `${name}@1:alone`, 'failed')
  work.block('2:gate', '1:alone', '1:alone#late')
  await tell(2)
  await untilState(server, `${name}@2:gate`, 'running')
  // Revision 2 was planned when all of revision 1 had ended.
  work.failing.clear()
  expect((await server.ask('POST', `/v1/tasks/${name}@1:alone/retry`)).status).toBe(200)
  await untilState(server, `${name}@1:alone`, 'running')
  await archives.planRun(name, 1, { trigger: { ...by, run: 'late' }, chosen: { tasks: ['alone'] } })
  work.free('2:gate')
  await untilState(server, `${name}@2:gate`, 'succeeded')
  expect(await stateOf(server, `${name}@2:alone`)).toBe('waiting')
  const { edges } = await shown(server, name, 2)
  for (const from of [`${name}@1:alone`, `${name}@1:alone#late`])
    expect(edges).toContainEqual({ from, to: `${name}@2:alone`, kind: 'finished' })
  work.free('1:alone', '1:alone#late')
  await untilState(server, `${name}@2:alone`, 'succeeded')
  expect(work.log.filter((line) => line.includes('alone')).at(-2)).toBe('start 2:alone')
  await close()
})

test('what cannot be run is refused', async () => {
  const { name, archives, tell, close } = await planner()
  await tell(1)
  await planned(server, name, 1)
  const refusal = (rev: number, chosen: object, archive = name) =>
    archives.planRun(archive, rev, { trigger: { ...by, run: '' }, chosen }).then(
      () => undefined,
      (error: { code: string }) => error.code,
    )
  expect(await refusal(2, { workflow: 'book' })).toBe('revision_not_planned')
  expect(await refusal(1, { workflow: 'x' })).toBe('unknown_workflow')
  expect(await refusal(1, { tasks: ['x'] })).toBe('unknown_workflow_task')
  expect(await refusal(1, { workflow: 'book' }, 'B')).toBe('archive_not_found')
  expect(await announce(server, name, 1)).toBe(409)
  await close()
})

const MANY_RUNS = [
  {
    path: '_workflows/many.yaml',
    text: `
on: { commit: {}, manual: {} }
tasks:
  - { name: free, command: make }
  - { name: after, command: make, depends: "PREV:free" }
  - { name: strict, command: make, depends: { task: "PREV:free", when: succeeded } }
  - { name: needs, command: make, depends: free }
`,
  },
]

async function manyRuns() {
  const { archives, name, ...rest } = await planner(MANY_RUNS)
  const run = (of: string, ...tasks: string[]) =>
    archives.planRun(name, 1, { trigger: { ...by, run: of }, chosen: { tasks } })
  const before = async (key: string) =>
    (await shown(server, name, 1)).edges.flatMap(({ from, to }) =>
      to === key && !from.endsWith(':COMMIT') ? [from] : [],
    )
  return { ...rest, name, run, before }
}

test('of the runs at a revision the newest is waited for, and those that are not over', async () => {
  const { name, work, tell, run, before, close } = await manyRuns()
  await tell(1)
  await untilState(server, `${name}@1:needs`, 'succeeded')
  work.block('1:free#slow')
  await run('slow', 'free')
  for (const quick of ['second', 'third']) {
    await run(quick, 'free')
    await untilState(server, `${name}@1:free#${quick}`, 'succeeded')
  }
  await run('last', 'after')
  expect(await before(`${name}@1:after#last`)).toEqual([`${name}@1:free#slow`, `${name}@1:free#third`])
  // What was seen to be over is not looked at again.
  const { rows } = await server.database.pool.query(
    `select run from millrace.archive_task
     where archive = (select id from millrace.archive where name = $1) and name = 'free' and is_open order by run`,
    [name],
  )
  expect(rows).toEqual([{ run: 'slow' }])
  work.free('1:free#slow')
  await untilState(server, `${name}@1:after#last`, 'succeeded')
  await tell(2)
  await untilState(server, `${name}@2:after`, 'succeeded')
  await close()
})

test('a failed run is forgotten when a later one has succeeded, or comes with who needs it', async () => {
  const { name, work, tell, run, before, close } = await manyRuns()
  work.failing.add('1:free').add('1:free#bad')
  await tell(1)
  await untilState(server, `${name}@1:free`, 'failed')
  await run('bad', 'free')
  await untilState(server, `${name}@1:free#bad`, 'failed')
  await run('both', 'free', 'needs')
  expect(await before(`${name}@1:needs#both`)).toEqual([`${name}@1:free#both`])
  await untilState(server, `${name}@1:needs#both`, 'succeeded')
  await run('last', 'strict')
  await untilState(server, `${name}@1:strict#last`, 'succeeded')
  await close()
})
