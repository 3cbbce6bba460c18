import { afterAll, beforeAll, expect, test } from 'vitest'
import { announce, commitFiles, planned, registered, shown, useArchiveServer } from '../../test/archives.ts'
import { gitFiles } from '../../test/repositories/git.ts'
import type { Ground } from '../../test/repositories/ground.ts'
import { svnFiles } from '../../test/repositories/svn.ts'

const server = useArchiveServer()
let ground: Ground
beforeAll(async () => {
  ground = await svnFiles()
})
afterAll(() => ground[Symbol.asyncDispose]())

const put = (name: string, body: object, headers = {}) =>
  server.ask('PUT', `/v1/archives/${encodeURIComponent(name)}`, { body, headers })
const FILES = { 'a.txt': 'x' }

test('history starts after the youngest revision unless another is named', async () => {
  const first = [FILES, { 'a.txt': 'y' }, { 'a.txt': 'z' }]
  const { name, plain } = await registered(server, ground, { first })
  expect((await server.ask('GET', `/v1/archives/${name}`)).json).toMatchObject({
    first: 4,
    planned: { number: 3 },
    youngest: { number: 3 },
    identity: expect.stringMatching(/^[0-9a-f-]{36}$/),
  })
  await commitFiles(plain, { 'a.txt': '4' })
  await announce(server, name, 4)
  await planned(server, name, 4)
  expect((await server.ask('GET', `/v1/archives/${name}/revisions`)).json.items).toMatchObject([{ number: 4 }])
  expect((await shown(server, name, 4))['previous']).toBe(null)

  const { name: middle } = await registered(server, ground, { from: 2, first })
  await planned(server, middle, 3)
  expect((await server.ask('GET', `/v1/archives/${middle}/revisions`)).json.items).toMatchObject([
    { number: 3 },
    { number: 2 },
  ])
})

test('what cannot be read is refused, and says why', async () => {
  const plain = await ground.create()
  const { url } = plain.options
  const code = async (source: object, more = {}) => {
    const reply = await put('refused', { source, ...more })
    return [reply.status, reply.json.code]
  }
  expect(await code({ type: 'svn', url: `${url}-elsewhere` })).toEqual([422, 'repository_unreachable'])
  expect(await code({ type: 'git', url: plain.path })).toEqual([422, 'repository_unreachable'])
  expect(await code({ type: 'svn', url: 'svn+ssh://host/x' })).toEqual([400, 'invalid_repository'])
  expect(await code({ type: 'svn', url: '--config-dir=/tmp' })).toEqual([400, 'invalid_repository'])
  expect(await code({ type: 'git', url: 'ext::sh -c reboot' })).toEqual([400, 'invalid_repository'])
  expect(await code({ type: 'svn', url: 'http://ada:secret@host/x' })).toEqual([400, 'invalid_repository'])
  expect(await code({ type: 'svn', url }, { from: 2 })).toEqual([422, 'revision_not_found'])
  expect(await code({ type: 'svn', url, branch: 'x' })).toEqual([400, 'invalid'])
  expect(await code({ type: 'push', url })).toEqual([400, 'invalid'])
  await commitFiles(plain, FILES)
  expect(await code({ type: 'svn', url, path: 'no/such' })).toEqual([422, 'path_not_found'])
  expect(await code({ type: 'svn', url, path: '../..' })).toMatchObject([
    expect.any(Number),
    expect.stringMatching(/^invalid|path/),
  ])
  const git = await gitFiles()
  const bare = await git.create()
  await commitFiles(bare, FILES)
  expect(await code({ type: 'git', url: bare.path, branch: 'nowhere' })).toEqual([422, 'branch_not_found'])
  expect(await code({ type: 'git', url: bare.path, branch: '--upload-pack=x' })).toEqual([400, 'invalid_repository'])
  await git[Symbol.asyncDispose]()
  expect((await server.ask('GET', '/v1/archives/refused')).status).toBe(404)
})

test('names are letters that no key, path or shell takes for something else', async () => {
  const source = { type: 'push' }
  for (const name of [
    'a@b',
    'a:b',
    'a#b',
    '-x',
    ' x',
    'x ',
    'x.',
    "a'b",
    'a$b',
    'a\nb',
    'a\u202eb',
    'e\u0301',
    'x'.repeat(101),
  ])
    expect([name, (await put(name, { source })).json.code]).toEqual([name, 'invalid_archive'])
  for (const name of ['My-Project', 'Über Größe 2', 'a.b_c-d', '論文', '7'])
    expect([name, (await put(name, { source })).status]).toEqual([name, 201])
  const { json } = await server.ask('GET', '/v1/archives?limit=2')
  expect(json.items.map(({ name }: { name: string }) => name)).toEqual(['7', 'My-Project'])
  const rest = await server.ask('GET', `/v1/archives?limit=9&cursor=${json.next_cursor}`)
  expect(rest.json.items.map(({ name }: { name: string }) => name)).toEqual(['a.b_c-d', 'Über Größe 2', '論文'])
})

test('a change names the version it was made from', async () => {
  const { name, plain } = await registered(server, ground, { first: [{ 'sub/a.txt': 'x' }] })
  const { headers } = await server.ask('GET', `/v1/archives/${name}`)
  const etag = headers.get('etag') ?? ''
  const { url } = plain.options
  const moved = { source: { type: 'svn', url, path: 'sub' } }
  expect((await put(name, moved, { 'if-match': '"99"' })).status).toBe(412)
  const changed = await put(name, moved, { 'if-match': etag })
  expect([changed.status, changed.json.source, changed.headers.get('etag')]).toEqual([200, moved.source, '"2"'])
  expect((await put(name, moved, { 'if-match': etag })).status).toBe(412)
  expect((await put(name, moved)).json.version).toBe(2)
})

test('another repository under the same name is refused, and so is another type', async () => {
  const { name } = await registered(server, ground, { first: [FILES] })
  const other = await ground.create()
  const reply = await put(name, { source: { type: 'svn', url: other.options.url } })
  expect([reply.status, reply.json.code]).toEqual([409, 'other_repository'])
  expect((await put(name, { source: { type: 'push' } })).json.code).toBe('invalid_archive')
})

test('a removed archive keeps its history, and goes on where it was', async () => {
  const { name, plain } = await registered(server, ground, { from: 1, first: [FILES] })
  await planned(server, name, 1)
  expect((await server.ask('DELETE', `/v1/archives/${name}`)).status).toBe(204)
  expect((await server.ask('GET', `/v1/archives/${name}`)).status).toBe(404)
  expect((await server.ask('GET', '/v1/archives')).json.items).toEqual([])
  expect(await announce(server, name, 2)).toBe(404)
  expect((await server.ask('GET', `/v1/tasks/${name}@1:COMMIT`)).json.state).toBe('succeeded')
  await commitFiles(plain, { 'a.txt': 'y' })
  const source = { type: 'svn', url: plain.options.url }
  expect((await put(name, { source, from: 1 })).json.code).toBe('invalid_archive')
  expect((await put(name, { source })).status).toBe(200)
  await planned(server, name, 2)
  expect((await server.ask('GET', `/v1/archives/${name}/revisions`)).json.items).toMatchObject([
    { number: 2 },
    { number: 1 },
  ])
})
