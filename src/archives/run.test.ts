import { expect, test } from 'vitest'
import { performing, shown, stateOf, untilState, useArchiveServer } from '../../test/archives.ts'
import { aPushArchive } from '../../test/push-archive.ts'

const BOOK = `
on:
  manual:
    inputs:
      edition: { default: draft, options: [draft, final] }
      reader: { required: true }
tasks:
  - name: set
    command: make set
  - name: print
    command: make print
    depends: set
    if: inputs.edition == "final"
`
const SITE = `
tasks:
  - name: site
    command: make site
  - name: upload
    command: make upload
    depends: [site, { task: PREV, when: finished }]
`

const server = useArchiveServer()

const start = (name: string, body: object, headers = {}) =>
  server.ask('POST', `/v1/archives/${encodeURIComponent(name)}/runs`, { body, headers })

test('A11: a workflow runs by hand with the inputs that were given and those by default', async () => {
  const { name, commit } = await aPushArchive(server)
  await commit({ 'book.yaml': BOOK })
  expect((await shown(server, name, 1)).tasks.map(({ key }) => key)).toEqual([`${name}@1:COMMIT`])
  const draft = await start(name, { workflow: 'book', inputs: { reader: 'ada' } })
  expect(draft.status).toBe(201)
  expect(draft.json).toMatchObject({ archive: name, rev: 1, run: '1' })
  expect(draft.json.tasks.map(({ key }: { key: string }) => key)).toEqual([`${name}@1:set#1`])
  const final = await start(name, { workflow: 'book', rev: 1, inputs: { reader: 'ada', edition: 'final' } })
  expect(final.json.tasks.map(({ key }: { key: string }) => key)).toEqual([`${name}@1:set#2`, `${name}@1:print#2`])
  const work = await performing(server.database)
  await work.seen('end 1:print#2')
  const { rows } = await server.database.pool.query(
    `select payload from millrace.task where id = ${final.json.tasks[1].id}`,
  )
  expect(rows[0].payload).toMatchObject({
    trigger: { type: 'manual', run: '2', by: 'admin', inputs: { reader: 'ada', edition: 'final' } },
    env: { MILLRACE_INPUT_EDITION: 'final', MILLRACE_INPUT_READER: 'ada' },
  })
})

test('one task runs by hand, at an older revision and by the definition of that revision', async () => {
  const { name, commit } = await aPushArchive(server)
  await commit({ 'site.yaml': SITE })
  await commit({ 'site.yaml': SITE.replace('make site', 'make other') })
  const one = await start(name, { task: 'site', rev: 1 })
  expect(one.json).toMatchObject({ rev: 1, tasks: [{ key: `${name}@1:site#1` }] })
  const newest = await start(name, { task: 'site' })
  expect(newest.json).toMatchObject({ rev: 2, tasks: [{ key: `${name}@2:site#2` }] })
  const { rows } = await server.database.pool.query(
    `select payload -> 'run' ->> 'command' as command from millrace.task where id = ${one.json.tasks[0].id}`,
  )
  expect(rows[0].command).toContain('site')
})

test('what does not exist or does not fit is refused with what there is, and nothing is left of it', async () => {
  const { name, commit } = await aPushArchive(server)
  await commit({ 'book.yaml': BOOK, 'site.yaml': SITE })
  const refusals: [object, number, string][] = [
    [{ workflow: 'boook', inputs: { reader: 'a' } }, 404, 'unknown_workflow'],
    [{ task: 'nothing' }, 404, 'unknown_workflow_task'],
    [{ workflow: 'book' }, 400, 'invalid_input'],
    [{ workflow: 'book', inputs: { reader: 'a', edition: 'third' } }, 400, 'invalid_input'],
    [{ workflow: 'book', inputs: { reader: 'a', more: 'x' } }, 400, 'invalid_input'],
    [{ task: 'print', inputs: { reader: 'a' } }, 409, 'nothing_to_run'],
    [{ workflow: 'site', rev: 7 }, 404, 'revision_not_planned'],
    [{ workflow: 'site', rev: 'abc' }, 404, 'revision_not_planned'],
    [{ workflow: 'site', task: 'site' }, 400, 'invalid'],
    [{}, 400, 'invalid'],
    [{ workflow: 'site', inputs: { a: 'x\u0000' } }, 400, 'invalid'],
  ]
  for (const [body, status, code] of refusals) {
    const reply = await start(name, body)
    expect([reply.status, reply.json.code], JSON.stringify(body)).toEqual([status, code])
  }
  expect((await start('Nobody', { workflow: 'site' })).json.code).toBe('archive_not_found')
  expect((await start(name, { workflow: 'site' })).json.run).toBe('1')
})

test('a definition with errors is not run by hand', async () => {
  const { name, commit } = await aPushArchive(server)
  await commit({ 'site.yaml': 'tasks: 7\n' })
  expect((await start(name, { workflow: 'site' })).json.code).toBe('definition_broken')
})

test('the same request twice is one run', async () => {
  const { name, commit } = await aPushArchive(server)
  await commit({ 'site.yaml': SITE })
  const headers = { 'idempotency-key': 'once-and-only-once' }
  const [first, second] = [
    await start(name, { workflow: 'site' }, headers),
    await start(name, { workflow: 'site' }, headers),
  ]
  expect(second.json).toEqual(first.json)
  expect(second.json.run).toBe('1')
})

test('a viewer starts nothing', async () => {
  const { json } = await server.ask('POST', '/v1/tokens', { body: { name: 'looker', role: 'viewer' } })
  const path = '/v1/archives/any/runs'
  expect((await server.ask('POST', path, { body: { workflow: 'x' }, token: json.secret })).status).toBe(403)
})

const rerun = (name: string, rev: number | string, body: object) =>
  server.ask('POST', `/v1/archives/${encodeURIComponent(name)}/revisions/${rev}/rerun`, { body })

test('what failed in a revision runs again with what was skipped because of it, and nothing else does', async () => {
  const work = await performing(server.database)
  const { name, commit } = await aPushArchive(server)
  work.failing.add('1:site')
  await commit({ 'site.yaml': SITE, 'other.yaml': 'tasks: [{ name: other, command: make other }]' })
  await untilState(server, `${name}@1:upload`, 'skipped')
  await untilState(server, `${name}@1:other`, 'succeeded')
  work.failing.clear()
  const again = await rerun(name, 1, { only: 'failed', cause: 'mended' })
  expect(again.json.tasks).toMatchObject([{ key: `${name}@1:site` }])
  await untilState(server, `${name}@1:upload`, 'succeeded')
  expect(work.log.filter((line) => line === 'start 1:other')).toHaveLength(1)
  expect((await rerun(name, 1, { only: 'failed' })).json.tasks).toEqual([])
})

test('a whole revision runs again in its order, and later revisions do not', async () => {
  const work = await performing(server.database)
  const { name, commit } = await aPushArchive(server)
  await commit({ 'site.yaml': SITE })
  await commit({ 'site.yaml': SITE })
  await untilState(server, `${name}@2:upload`, 'succeeded')
  work.log.length = 0
  const path = `/v1/archives/${encodeURIComponent(name)}/revisions/1/rerun?dry_run=1`
  const dry = await server.ask('POST', path, { body: { only: 'all' } })
  expect(dry.json.tasks).toMatchObject([{ key: `${name}@1:site` }, { key: `${name}@1:upload` }])
  const differs = await rerun(name, 1, { only: 'all', expected_count: 3 })
  expect([differs.status, differs.json.code]).toEqual([409, 'count_differs'])
  expect(await stateOf(server, `${name}@1:site`)).toBe('succeeded')
  const again = await rerun(name, 1, { only: 'all', expected_count: 2 })
  expect(again.json.tasks).toHaveLength(2)
  await work.seen('end 1:upload')
  await untilState(server, `${name}@1:upload`, 'succeeded')
  expect(work.log).toEqual(['start 1:site', 'end 1:site', 'start 1:upload', 'end 1:upload'])
})

test('a run by hand is run again by its number, and a task by its key', async () => {
  const work = await performing(server.database)
  const { name, commit } = await aPushArchive(server)
  await commit({ 'site.yaml': SITE })
  await start(name, { task: 'site' })
  await untilState(server, `${name}@1:site#1`, 'succeeded')
  await untilState(server, `${name}@1:upload`, 'succeeded')
  work.log.length = 0
  expect((await rerun(name, 1, { only: 'all', run: '1' })).json.tasks).toMatchObject([{ key: `${name}@1:site#1` }])
  await work.seen('end 1:site#1')
  const upload = `/v1/tasks/${encodeURIComponent(`${name}@1:upload`)}`
  expect((await server.ask('POST', `${upload}/rerun`)).status).toBe(200)
  await work.seen('end 1:upload')
  expect(await stateOf(server, `${name}@1:site`)).toBe('succeeded')
  expect((await rerun(name, 9, { only: 'all' })).json.code).toBe('revision_not_planned')
})
