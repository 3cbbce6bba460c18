import { rename } from 'node:fs/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  announce,
  archiveServer,
  commitFiles,
  performing,
  planned,
  registered,
  shown,
  untilState,
  useArchiveServer,
} from '../../test/archives.ts'
import { waitFor } from '../../test/processes.ts'
import type { Ground } from '../../test/repositories/ground.ts'
import { svnFiles } from '../../test/repositories/svn.ts'

const server = useArchiveServer()
let ground: Ground
beforeAll(async () => {
  ground = await svnFiles()
})
afterAll(() => ground[Symbol.asyncDispose]())

const push = async (name: string) => {
  const reply = await server.ask('PUT', `/v1/archives/${name}`, { body: { source: { type: 'push' } } })
  expect(reply.status).toBe(201)
}
const tell = (name: string, body: object) => server.ask('POST', `/v1/archives/${name}/commits`, { body })

test('a notice is taken without the repository, and stands after it has come back', async () => {
  const server = await archiveServer({ poll_seconds: 1 })
  const { name, plain } = await registered(server, ground, { from: 1 })
  await commitFiles(plain, { 'a.txt': 'x' })
  await rename(plain.path, `${plain.path}.away`)
  expect(await announce(server, name, 1)).toBe(202)
  const troubled = await waitFor(async () => {
    const { json } = await server.ask('GET', `/v1/archives/${name}`)
    return json.problem ?? undefined
  })
  expect(troubled).toMatchObject({ code: 'repository_unreachable' })
  await rename(`${plain.path}.away`, plain.path)
  await planned(server, name, 1)
  expect((await server.ask('GET', `/v1/archives/${name}`)).json).toMatchObject({ state: 'active', problem: null })
})

test('a token of an archive announces its revisions and does nothing else', async () => {
  await push('mine')
  await push('theirs')
  const made = await server.ask('POST', '/v1/tokens', {
    body: { name: 'hook', limit: { to: 'archive', name: 'mine' } },
  })
  const token = made.json.secret as string
  const status = async (method: string, path: string, body?: object) =>
    (await server.ask(method, path, { token, ...(body === undefined ? {} : { body }) })).status
  expect(await status('POST', '/v1/archives/mine/commits', { rev: 1 })).toBe(202)
  expect(await status('PUT', '/v1/archives/mine/revisions/2')).toBe(202)
  expect(await status('PUT', '/v1/archives/mine/revisions/2')).toBe(200)
  expect(await status('POST', '/v1/archives/theirs/commits', { rev: 1 })).toBe(403)
  expect(await status('GET', '/v1/archives/mine')).toBe(403)
  expect(await status('POST', '/v1/archives/mine/hold')).toBe(403)
  expect(await status('DELETE', '/v1/archives/mine')).toBe(403)
})

test('an archive without a repository waits for the missing revision, and shows the gap', async () => {
  const work = await performing(server.database)
  await push('waits')
  const task = { name: 'index', command: 'make', depends: 'PREV' }
  expect((await tell('waits', { rev: 3, tasks: [task] })).status).toBe(202)
  expect((await tell('waits', { rev: 1, tasks: [task], author: 'ada', message: 'first' })).status).toBe(202)
  await untilState(server, 'waits@1:index', 'succeeded')
  const { json } = await server.ask('GET', '/v1/archives/waits/gaps')
  expect(json).toMatchObject({
    planned: 1,
    youngest: 3,
    items: [
      { first: 2, last: 2, reason: 'not_announced' },
      { first: 3, last: 3, reason: 'not_planned' },
    ],
  })
  expect((await server.ask('GET', '/v1/archives/waits/revisions/3')).status).toBe(404)
  expect((await tell('waits', { rev: 2 })).status).toBe(202)
  await untilState(server, 'waits@3:index', 'succeeded')
  expect(work.log).toEqual(['start 1:index', 'end 1:index', 'start 3:index', 'end 3:index'])
  expect(await shown(server, 'waits', 1)).toMatchObject({ author: 'ada', message: 'first' })
  expect((await server.ask('GET', '/v1/archives/waits/gaps')).json.items).toEqual([])
})

test('a revision that has to wait is told of, and so is who makes it wait', async () => {
  await push('told')
  const events = async () => {
    const { json } = await server.ask('GET', '/v1/events?scope=archive:told&after=oldest', {
      headers: { accept: 'application/json' },
    })
    const own = json.items.filter(({ task }: { task: string | null }) => task === null)
    return own.map(
      ({ name, detail }: { name: string; detail: { rev?: number } | null }) => `${name} ${detail?.rev ?? ''}`,
    )
  }
  await tell('told', { rev: 1 })
  await planned(server, 'told', 1)
  await tell('told', { rev: 3 })
  await server.ask('POST', '/v1/archives/told/hold')
  await tell('told', { rev: 2 })
  await server.ask('POST', '/v1/archives/told/release')
  await planned(server, 'told', 3)
  expect((await events()).filter((one: string) => !one.startsWith('revision.planned'))).toEqual([
    'revision.announced 3',
    'archive.held ',
    'revision.announced 2',
    'archive.released ',
  ])
})

test('the same revision with other contents is refused, with the same it is known', async () => {
  await push('repeated')
  const tasks = [{ name: 'a', command: 'make' }]
  await tell('repeated', { rev: 5, tasks })
  expect((await tell('repeated', { rev: 5, tasks })).status).toBe(200)
  const other = await tell('repeated', { rev: 5, tasks: [{ name: 'b', command: 'make' }] })
  expect([other.status, other.json.code]).toEqual([409, 'notice_differs'])
})

test('what a notice carries is checked like a file', async () => {
  await push('checked')
  await tell('checked', {
    rev: 1,
    tasks: [{ name: 'a b', command: 'make' }, 7, { name: 'COMMIT', command: 'x' }],
  })
  await planned(server, 'checked', 1)
  const { problems, state } = await shown(server, 'checked', 1)
  expect(state).toBe('broken')
  expect(problems).toContainEqual(expect.objectContaining({ code: 'bad-name', file: '_workflows/notice.json' }))
})

test('hostile notices are refused or kept as they are', async () => {
  await push('hostile')
  const status = async (body: unknown) =>
    (await server.ask('POST', '/v1/archives/hostile/commits', { body: body as object })).status
  for (const rev of [0, -1, 1.5, 2 ** 60, '1; drop table', 'a'.repeat(40), null, []])
    expect(await status({ rev })).toBe(400)
  expect(await status({ rev: 1, unknown: true })).toBe(400)
  expect(await status({ rev: 1, message: 'a\u0000b' })).toBe(400)
  expect(await status({ rev: 1, files: [{ path: '../../etc/passwd', text: '' }] })).toBe(400)
  const message = "'; drop table millrace.task; --\n<script>\u202e"
  expect(await status({ rev: 1, message, author: '$(reboot)', txn: '`x`', paths: ['../..', '/etc', ''] })).toBe(202)
  await planned(server, 'hostile', 1)
  expect(await shown(server, 'hostile', 1)).toMatchObject({ message, author: '$(reboot)' })
  expect((await server.ask('POST', '/v1/archives/unknown/commits', { body: { rev: 1 } })).status).toBe(404)
  expect((await server.ask('POST', '/v1/archives/%00/commits', { body: { rev: 1 } })).status).toBe(404)
})
