import { rename, rm } from 'node:fs/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  announce,
  archiveServer,
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
import { inForm } from '../../test/long-form.ts'
import { waitFor } from '../../test/processes.ts'
import { git, gitFiles } from '../../test/repositories/git.ts'
import { type Ground, say } from '../../test/repositories/ground.ts'
import { loadHistory, svnFiles } from '../../test/repositories/svn.ts'

const server = useArchiveServer()
let ground: Ground
let branches: Ground
beforeAll(async () => {
  ground = await svnFiles()
  branches = await gitFiles()
})
afterAll(async () => {
  await ground[Symbol.asyncDispose]()
  await branches[Symbol.asyncDispose]()
})

const one = { '_workflows/a.yaml': '- { name: a, command: make, depends: PREV }' }
const archiveOf = async (name: string) => (await server.ask('GET', `/v1/archives/${name}`)).json

test('A2: without any hook a revision is found by itself', async () => {
  const server = await archiveServer({ poll_seconds: 1 })
  const { name, plain } = await registered(server, ground, { from: 1, first: [one] })
  await commitFiles(plain, { 'a.txt': 'x' })
  await commitFiles(plain, { 'a.txt': 'y' })
  await planned(server, name, 3)
})

test('A2: a revision whose hook was killed runs before the next one', async () => {
  const work = await performing(server.database)
  const { name, plain } = await registered(server, ground, { from: 1, first: [one] })
  await commitFiles(plain, { 'a.txt': 'x' })
  await commitFiles(plain, { 'a.txt': 'y' })
  await announce(server, name, 3)
  await untilState(server, `${name}@3:a`, 'succeeded')
  expect(work.log).toEqual([1, 2, 3].flatMap((rev) => [`start ${rev}:a`, `end ${rev}:a`]))
})

test('A8: archives do not wait for each other', async () => {
  const work = await performing(server.database)
  const alone = (name: string) => ({ '_workflows/a.yaml': `- { name: ${name}, command: make, exclusive: true }` })
  work.block('1:slow')
  const slow = await registered(server, ground, { from: 1, first: [alone('slow')] })
  await work.seen('start 1:slow')
  const quick = await registered(server, ground, { from: 1, first: [alone('quick')] })
  await commitFiles(quick.plain, { 'a.txt': 'x' })
  await announce(server, quick.name, 2)
  await untilState(server, `${quick.name}@2:quick`, 'succeeded')
  // Not even what needs an archive to itself keeps another one waiting.
  expect(await stateOf(server, `${slow.name}@1:slow`)).toBe('running')
  work.free('1:slow')
  await untilState(server, `${slow.name}@1:slow`, 'succeeded')
})

test('a late revision finds the one before it, however long ago that was', async () => {
  const work = await performing(server.database)
  const filtered = 'on: { commit: { paths: ["rare/**"] } }\ntasks: [{ name: rare, command: make, depends: PREV }]'
  const plain = await ground.create()
  const revisions = inForm(301, 1501)
  await loadHistory(plain.path, revisions, { '_workflows/a.yaml': filtered, 'rare/x': '1' })
  await commitFiles(plain, { 'rare/x': '2' })
  work.block('1:rare')
  const source = { type: 'svn', url: plain.options.url }
  expect((await server.ask('PUT', '/v1/archives/ancient', { body: { source, from: 1 } })).status).toBe(201)
  const late = revisions + 1
  await planned(server, 'ancient', late)
  expect(await edgesOf(server, 'ancient', late)).toContain(`1:rare <-- ${late}:rare`)
  expect(await stateOf(server, `ancient@${late}:rare`)).toBe('waiting')
  work.free('1:rare')
  await untilState(server, `ancient@${late}:rare`, 'succeeded')
  // A key stays what it was.
  expect((await server.ask('GET', '/v1/tasks/ancient@1:rare')).json).toMatchObject({ state: 'succeeded' })
})

test('a long history is attached at once when it is not asked for', async () => {
  const plain = await ground.create()
  // One by one would take minutes: the history is written as Subversion keeps it in a file.
  await loadHistory(plain.path, 200)
  const source = { type: 'svn', url: plain.options.url }
  const reply = await server.ask('PUT', '/v1/archives/long', { body: { source } })
  expect(reply.json).toMatchObject({ first: 201, planned: { number: 200 } })
  await commitFiles(plain, one)
  await announce(server, 'long', 201)
  await planned(server, 'long', 201)
  expect((await server.ask('GET', '/v1/archives/long/revisions')).json.items).toMatchObject([{ number: 201 }])
})

test('two servers on one database plan every revision once', async () => {
  const second = await archiveServer({ on: server.database })
  const work = await performing(server.database)
  const { name, plain } = await registered(server, ground, { from: 1, first: [one] })
  for (let rev = 2; rev <= 12; rev += 1) {
    await commitFiles(plain, { 'a.txt': String(rev) })
    await Promise.all([announce(server, name, rev), announce(second, name, rev)])
  }
  await untilState(server, `${name}@12:a`, 'succeeded')
  const all = Array.from({ length: 12 }, (_, i) => i + 1)
  expect(work.log).toEqual(all.flatMap((rev) => [`start ${rev}:a`, `end ${rev}:a`]))
  for (const rev of all) expect((await shown(second, name, rev)).tasks).toHaveLength(2)
})

test('a held archive takes notices and plans nothing until it is released', async () => {
  const { name, plain } = await registered(server, ground, { from: 1, first: [one] })
  await planned(server, name, 1)
  expect((await server.ask('POST', `/v1/archives/${name}/hold`)).json.state).toBe('held')
  await commitFiles(plain, { 'a.txt': 'x' })
  expect(await announce(server, name, 2)).toBe(202)
  expect((await server.ask('POST', `/v1/archives/${name}/catch-up`)).json.code).toBe('archive_state_refused')
  expect((await archiveOf(name)).planned.number).toBe(1)
  expect((await server.ask('POST', `/v1/archives/${name}/release`)).json.state).toBe('active')
  await planned(server, name, 2)
})

test('to catch up is to look now and to say how far it is planned', async () => {
  const { name, plain } = await registered(server, ground, { from: 1, first: [one] })
  await planned(server, name, 1)
  await commitFiles(plain, { 'a.txt': 'x' })
  const { json } = await server.ask('POST', `/v1/archives/${name}/catch-up`, { body: {} })
  expect(json).toMatchObject({ planned: { number: 2 }, youngest: { number: 2 }, problem: null })
  const refused = await server.ask('POST', `/v1/archives/${name}/catch-up`, { body: { accept: 'rewritten' } })
  expect(refused.json.code).toBe('archive_state_refused')
})

test('a forced push breaks the archive until a person accepts it; then the new commits are planned', async () => {
  const { name, plain } = await registered(server, branches, {
    from: 1,
    first: [one, { 'a.txt': '2' }, { 'a.txt': '3' }],
  })
  await planned(server, name, 3)
  const before = await shown(server, name, 3)
  await git(plain.path, 'update-ref', 'refs/heads/main', 'refs/heads/main~1')
  await commitFiles(plain, { 'a.txt': null }, 'another third')
  await commitFiles(plain, { 'b.txt': 'x' }, 'a fourth')
  const tip = (await git(plain.path, 'rev-parse', 'main')).trim()
  expect(await announce(server, name, tip)).toBe(202)
  const broken = await waitFor(async () => {
    const archive = await archiveOf(name)
    return archive.state === 'broken' ? archive : undefined
  })
  expect(broken.problem).toMatchObject({
    code: 'history_rewritten',
    remedy: expect.stringContaining('--accept rewritten'),
  })
  expect(broken.problem.message).toContain(before['id'])
  expect((await server.ask('POST', `/v1/archives/${name}/release`)).json.code).toBe('archive_state_refused')
  expect((await server.ask('POST', `/v1/archives/${name}/catch-up`)).json.state).toBe('broken')
  const { json } = await server.ask('POST', `/v1/archives/${name}/catch-up`, { body: { accept: 'rewritten' } })
  expect(json).toMatchObject({ state: 'active', problem: null, planned: { number: 5, id: tip } })
  expect(await shown(server, name, 3)).toEqual(before)
  expect([(await shown(server, name, 4))['message'], (await shown(server, name, 5))['message']]).toEqual([
    'another third',
    'a fourth',
  ])
  expect(await announce(server, name, tip)).toBe(200)
})

test('a repository of Subversion that was set back breaks the archive; accepted, it goes on after the cursor', async () => {
  const { name, plain } = await registered(server, ground, { from: 1, first: [one, { 'a.txt': '2' }] })
  await planned(server, name, 2)
  const uuid = (await say('svnlook', ['uuid', plain.path])).trim()
  await rm(plain.path, { recursive: true })
  await say('svnadmin', ['create', plain.path])
  await say('svnadmin', ['setuuid', plain.path, uuid])
  await rm(`${plain.path}.copy`, { recursive: true })
  await commitFiles(plain, { 'b.txt': 'restored' })
  const { json: broken } = await server.ask('POST', `/v1/archives/${name}/catch-up`, { body: {} })
  expect(broken).toMatchObject({ state: 'broken', problem: { code: 'history_rewritten' } })
  const { json } = await server.ask('POST', `/v1/archives/${name}/catch-up`, { body: { accept: 'rewritten' } })
  expect(json).toMatchObject({ state: 'active', planned: { number: 2 } })
  await commitFiles(plain, { 'b.txt': '2' })
  await commitFiles(plain, { 'b.txt': '3' })
  await announce(server, name, 3)
  await planned(server, name, 3)
  expect((await shown(server, name, 3))['message']).toBe('a change')
})

test('another repository at the same place is never planned; the right one is planned again once it is back', async () => {
  const { name, plain } = await registered(server, ground, { from: 1, first: [one] })
  await planned(server, name, 1)
  const away = `${plain.path}.away`
  await rename(plain.path, away)
  await say('svnadmin', ['create', plain.path])
  await rm(`${plain.path}.copy`, { recursive: true })
  for (const text of ['1', '2', '3']) await commitFiles(plain, { 'b.txt': text })
  await announce(server, name, 3)
  const archive = await waitFor(async () => {
    const found = await archiveOf(name)
    return found.state === 'broken' ? found : undefined
  })
  expect(archive).toMatchObject({ planned: { number: 1 }, problem: { code: 'other_repository' } })
  const catchUp = async () => (await server.ask('POST', `/v1/archives/${name}/catch-up`, { body: {} })).json
  const { lookedAt: _, ...still } = await catchUp()
  expect(still).toMatchObject({ state: 'broken', planned: { number: 1 }, problem: archive.problem })

  await rename(plain.path, `${plain.path}.other`)
  await rename(away, plain.path)
  await rm(`${plain.path}.copy`, { recursive: true })
  await commitFiles(plain, { 'a.txt': 'the right one' }, 'the second')
  await announce(server, name, 4)
  await planned(server, name, 2)
  expect(await archiveOf(name)).toMatchObject({ state: 'active', problem: null })
  expect((await shown(server, name, 2))['message']).toBe('the second')

  await rename(plain.path, away)
  await rename(`${plain.path}.other`, plain.path)
  expect(await catchUp()).toMatchObject({ state: 'broken', planned: { number: 2 } })
  // A poll is a look that becomes due by itself.
  await rename(plain.path, `${plain.path}.other`)
  await rename(away, plain.path)
  await server.database.pool.query(
    `update millrace.archive_look set look_at = now() where archive = (select id from millrace.archive where name = $1)`,
    [name],
  )
  await waitFor(async () => ((await archiveOf(name)).state === 'active' ? true : undefined))
})

test('a repository of git that was replaced is followed again once it is back', async () => {
  const { name, plain } = await registered(server, branches, { from: 1, first: [one] })
  await planned(server, name, 1)
  const other = await branches.create()
  for (const text of ['1', '2', '3']) await commitFiles(other, { 'b.txt': text })
  await rename(plain.path, `${plain.path}.away`)
  await rename(other.path, plain.path)
  const catchUp = async () => (await server.ask('POST', `/v1/archives/${name}/catch-up`, { body: {} })).json
  for (let round = 0; round < 2; round += 1)
    expect(await catchUp()).toMatchObject({ state: 'broken', problem: { code: 'other_repository' } })
  await rename(plain.path, other.path)
  await rename(`${plain.path}.away`, plain.path)
  await commitFiles(plain, { 'a.txt': '2' }, 'the second')
  expect(await catchUp()).toMatchObject({ state: 'active', problem: null, planned: { number: 2 } })
  expect((await shown(server, name, 2))['message']).toBe('the second')
})

test('an empty repository is known by its first commit once it has one', async () => {
  const { name, plain } = await registered(server, branches)
  expect(await archiveOf(name)).toMatchObject({ identity: null, first: 1 })
  await commitFiles(plain, one)
  await announce(server, name, 1)
  await planned(server, name, 1)
  const first = (await git(plain.path, 'rev-parse', 'main')).trim()
  await waitFor(async () => ((await archiveOf(name)).identity === first ? true : undefined))
})

test('forty archives with a commit each are all planned', async () => {
  const all: string[] = []
  const plain = await ground.create()
  await commitFiles(plain, { '_workflows/a.yaml': DOCUMENT })
  const source = { type: 'svn', url: plain.options.url }
  for (let i = 0; i < 40; i += 1) {
    all.push(`many-${i}`)
    await server.ask('PUT', `/v1/archives/many-${i}`, { body: { source } })
  }
  await commitFiles(plain, { 'a.txt': 'x' })
  await Promise.all(all.map((name) => announce(server, name, 2)))
  await Promise.all(all.map((name) => planned(server, name, 2)))
  for (const name of all) expect((await shown(server, name, 2)).tasks).toHaveLength(3)
})
