import { expect, test } from 'vitest'
import { announce, archiveServer, performing, planned, shown, untilState } from '../../test/archives.ts'
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

async function planner() {
  const server = await archiveServer()
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
  await server.ask('PUT', '/v1/archives/A', { body: { source: { type: 'push' } } })
  const tell = (rev: number) => server.ask('POST', '/v1/archives/A/commits', { body: { rev, files: FILES } })
  return { server, work, archives, tell, close: () => millrace.close() }
}

const by = { type: 'manual', by: 'ada', inputs: {} } as const

test('a run adds tasks of its own to a revision, after those that it has', async () => {
  const { server, archives, tell, close } = await planner()
  await tell(1)
  await untilState(server, 'A@1:b', 'succeeded')
  const run = await archives.planRun('A', 1, {
    trigger: { ...by, run: '', inputs: { edition: 'final' } },
    chosen: { workflow: 'book' },
  })
  expect(run).toMatchObject({ run: '1', tasks: [{ key: 'A@1:a#1' }, { key: 'A@1:b#1' }] })
  await untilState(server, 'A@1:b#1', 'succeeded')
  const { tasks, edges } = await shown(server, 'A', 1)
  expect(tasks.map(({ key }) => key)).toEqual(['A@1:COMMIT', 'A@1:a', 'A@1:b', 'A@1:a#1', 'A@1:b#1'])
  expect(edges).toContainEqual({ from: 'A@1:a', to: 'A@1:a#1', kind: 'finished' })
  const { json } = await server.ask('GET', `/v1/tasks/${run.tasks[0]?.id}`)
  expect(json.payload).toMatchObject({
    trigger: { type: 'manual', run: '1', by: 'ada', inputs: { edition: 'final' } },
    env: { MILLRACE_INPUT_EDITION: 'final' },
  })
  await close()
})

test('a run of some tasks has those alone, and a later commit waits for it and cancels it', async () => {
  const { server, work, archives, tell, close } = await planner()
  await tell(1)
  await untilState(server, 'A@1:b', 'succeeded')
  work.block('1:b#nightly')
  const run = await archives.planRun('A', 1, { trigger: { ...by, run: 'nightly' }, chosen: { tasks: ['a', 'b'] } })
  expect(run.tasks.map(({ key }) => key)).toEqual(['A@1:a#nightly', 'A@1:b#nightly'])
  await work.seen('start 1:b#nightly')
  await tell(2)
  await untilState(server, 'A@2:b', 'succeeded')
  await untilState(server, 'A@1:b#nightly', 'canceled')
  expect((await shown(server, 'A', 2)).edges).toContainEqual({ from: 'A@1:a#nightly', to: 'A@2:a', kind: 'finished' })
  await close()
})

test('what cannot be run is refused', async () => {
  const { server, archives, tell, close } = await planner()
  await tell(1)
  await planned(server, 'A', 1)
  const refusal = (rev: number, chosen: object, archive = 'A') =>
    archives.planRun(archive, rev, { trigger: { ...by, run: '' }, chosen }).then(
      () => undefined,
      (error: { code: string }) => error.code,
    )
  expect(await refusal(2, { workflow: 'book' })).toBe('revision_not_planned')
  expect(await refusal(1, { workflow: 'x' })).toBe('unknown_workflow')
  expect(await refusal(1, { tasks: ['x'] })).toBe('unknown_workflow_task')
  expect(await refusal(1, { workflow: 'book' }, 'B')).toBe('archive_not_found')
  expect(await announce(server, 'A', 1)).toBe(409)
  await close()
})
