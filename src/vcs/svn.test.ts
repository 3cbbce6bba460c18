import { cp, readFile, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Ground, say } from '../../test/repositories/ground.ts'
import { marked, opened, paths, put, text, write } from '../../test/repositories/kit.ts'
import { spyOn } from '../../test/repositories/spy.ts'
import { svnFiles, writeHook } from '../../test/repositories/svn.ts'
import { scratch } from '../../test/scratch.ts'
import { collect } from './index.ts'
import { testRepository } from './repository.suite.ts'

testRepository('svn by file://', svnFiles)

let ground: Ground
beforeAll(async () => {
  ground = await svnFiles()
})
afterAll(() => ground[Symbol.asyncDispose]())

async function filled(...names: string[]) {
  const plain = await ground.create()
  await plain.commit(async (folder) => {
    for (const name of names) await write(join(folder, name), name)
  }, 'one')
  return plain
}

test('a range of the log is one call, however many revisions it has', async () => {
  const plain = await filled('a')
  for (const name of ['b', 'c', 'd']) await plain.commit((folder) => write(join(folder, name)), name)
  const spy = await spyOn(['svn'])
  const repository = await opened(plain, { environment: spy.environment, cacheDir: spy.cacheDir })
  expect(await collect(repository.log({ after: { number: 1, id: '1' } }))).toHaveLength(3)
  expect((await spy.arguments()).match(/^svn log /gm)).toHaveLength(1)
})

test('the marker is a property of the revision', async () => {
  const plain = await filled('a')
  const repository = await opened(plain)
  const { id } = await repository.commitChanges({ ...marked('CS-1'), changes: [put('b')] })
  await using workspace = await repository.workspace({ revision: await repository.youngest() })
  await write(join(workspace.path, 'c'))
  const last = await repository.commit(workspace, marked('CS-2'))
  const cause = (at = '') => say('svn', ['propget', '--revprop', '-r', at, 'millrace:cause', plain.options.url])
  expect([await cause(id), await cause(last?.id)]).toEqual(['CS-1\n', 'CS-2\n'])
})

test('the log tells where a folder was copied from, inside what was opened or outside', async () => {
  const plain = await filled('trunk/a')
  await say('svn', ['copy', '-q', '-m', 'branch', `${plain.options.url}/trunk`, `${plain.options.url}/branch`])
  await say('svn', ['copy', '-q', '-m', 'again', `${plain.options.url}/branch/a`, `${plain.options.url}/branch/b`])
  const whole = await collect((await opened(plain)).log())
  expect(whole[1]?.changes).toEqual([
    { path: 'branch', action: 'A', kind: 'folder', copyFrom: { path: 'trunk', number: 1 } },
  ])
  const branch = await opened(plain, { url: `${plain.options.url}/branch` })
  const part = await collect(branch.log())
  expect(part.map(({ changes }) => changes.map(({ path, copyFrom }) => ({ path, copyFrom })))).toEqual([
    [],
    [{ path: '', copyFrom: { path: '^/trunk', number: 1 } }],
    [{ path: 'b', copyFrom: { path: 'a', number: 2 } }],
  ])
  await say('svn', ['rm', '-q', '-m', 'gone', `${plain.options.url}/branch`])
  const last = await branch.youngest()
  expect(await collect(branch.list('', last))).toEqual([])
  const [entry] = await collect(branch.log({ after: { number: 3, id: '3' } }))
  expect(entry?.changes).toEqual([{ path: '', action: 'D', kind: 'folder' }])
  expect(await paths(branch.diff({ number: 3, id: '3' }, last))).toEqual(['', 'a', 'b'])
})

test('what happens above the folder that was opened happens to it', async () => {
  const plain = await filled('a/b/c', 'a/other')
  const repository = await opened(plain, { path: 'a/b' })
  await say('svn', ['rm', '-q', '-m', 'gone', `${plain.options.url}/a`])
  const log = await collect(repository.log())
  expect(log[1]?.changes).toEqual([{ path: '', action: 'D', kind: 'folder' }])
})

test('another repository at the same address is not taken for the old one', async () => {
  const plain = await filled('a')
  const repository = await opened(plain)
  const identity = (await repository.identity()) ?? ''
  await repository.youngest()
  await rm(plain.path, { recursive: true })
  await say('svnadmin', ['create', plain.path])
  const rewritten = { code: 'history_rewritten', isRetryable: false, known: `repository ${identity}` }
  await expect(repository.youngest()).rejects.toMatchObject(rewritten)
  const anew = await opened(plain, { identity })
  await expect(anew.youngest()).rejects.toMatchObject(rewritten)
  await expect(collect((await opened(plain)).log())).resolves.toEqual([])
})

test('a repository that was set back does not continue what was known', async () => {
  const plain = await filled('a')
  const { path } = await scratch()
  await cp(plain.path, join(path, 'backup'), { recursive: true })
  await plain.commit((folder) => write(join(folder, 'b')), 'two')
  const repository = await opened(plain)
  const known = await repository.youngest()
  await rm(plain.path, { recursive: true })
  await cp(join(path, 'backup'), plain.path, { recursive: true })
  const rewritten = { code: 'history_rewritten', known: 'revision 2', found: 'revision 1, the youngest,' }
  await expect(collect(repository.log({ after: known }))).rejects.toMatchObject(rewritten)
  await expect(repository.findMarker('x', { since: known })).rejects.toMatchObject(rewritten)
  const beyond = repository.log({ after: { number: 1, id: '1' }, to: known })
  await expect(collect(beyond)).rejects.toMatchObject({ code: 'revision_not_found' })
  await expect(repository.read('b', known)).rejects.toMatchObject({ code: 'revision_not_found' })
})

test('keywords are not expanded when a file is read', async () => {
  const plain = await ground.create()
  await plain.commit(async (folder) => {
    await write(join(folder, 'a'), '$Id$\n')
    await say('svn', ['add', '-q', join(folder, 'a')])
    await say('svn', ['propset', '-q', 'svn:keywords', 'Id', join(folder, 'a')])
  }, 'one')
  const repository = await opened(plain)
  const revision = await repository.youngest()
  expect(await text(repository, 'a', revision)).toBe('$Id$\n')
  expect(await repository.properties('a', revision)).toEqual({ 'svn:keywords': 'Id' })
})

test('a workspace follows no externals and commits nothing that is ignored', async () => {
  const other = await filled('foreign')
  const plain = await ground.create()
  await plain.commit(async (folder) => {
    await write(join(folder, 'a'))
    await say('svn', ['propset', '-q', 'svn:externals', `${other.options.url} outside`, folder])
    await say('svn', ['propset', '-q', 'svn:ignore', '*.tmp', folder])
  }, 'one')
  const repository = await opened(plain)
  await using workspace = await repository.workspace({ revision: await repository.youngest() })
  await expect(stat(join(workspace.path, 'outside'))).rejects.toMatchObject({ code: 'ENOENT' })
  await write(join(workspace.path, 'x.tmp'))
  expect(await repository.commit(workspace, marked('ignored'))).toBeUndefined()
  // Unlike what people ignore on their own machines.
  await write(join(workspace.path, 'x.o'))
  const made = await repository.commit(workspace, marked('object'))
  expect(made && (await paths(repository.list('', made)))).toEqual(['a', 'x.o'])
})

test('svn works in a workspace that was committed before', async () => {
  const repository = await opened(await filled('a'))
  {
    await using workspace = await repository.workspace({ revision: await repository.youngest() })
    await write(join(workspace.path, 'b'), 'new')
    await repository.commit(workspace, marked('b'))
  }
  await using workspace = await repository.workspace({ revision: await repository.youngest() })
  expect(await say('svn', ['status', workspace.path])).toBe('')
  expect(await say('svn', ['cat', '-r', 'BASE', join(workspace.path, 'b')])).toBe('new')
})

test('the next user does not find what a task switched, left out or ignored', async () => {
  const plain = await filled('trunk/d/a', 'trunk/e/b', 'branch/d/other')
  const repository = await opened(plain, { path: 'trunk' })
  const revision = await repository.youngest()
  const before = await repository.workspace({ revision })
  const at = (name: string) => join(before.path, name)
  await say('svn', ['switch', '-q', '--ignore-ancestry', `${plain.options.url}/branch/d`, at('d')])
  await say('svn', ['update', '-q', '--set-depth', 'exclude', at('e')])
  await say('svn', ['propset', '-q', 'svn:ignore', 'junk', before.path])
  await write(at('junk'))
  await before[Symbol.asyncDispose]()
  await using after = await repository.workspace({ revision })
  expect(after.slot).toBe(before.slot)
  expect(await readFile(at('d/a'), 'utf8')).toBe('trunk/d/a')
  expect(await readFile(at('e/b'), 'utf8')).toBe('trunk/e/b')
  for (const name of ['junk', 'd/other']) await expect(stat(at(name))).rejects.toMatchObject({ code: 'ENOENT' })
  expect(await repository.commit(after, marked('nothing'))).toBeUndefined()
})

test('a message with characters that XML does not allow is read like any other', async () => {
  const plain = await ground.create()
  await plain.commit((folder) => write(join(folder, 'a')), 'odd \u0001 \uffff end')
  await plain.commit((folder) => write(join(folder, 'b')), '<![CDATA[ ]]> &amp; </msg>')
  const log = await collect((await opened(plain)).log())
  expect(log[0]?.message).toMatch(/^odd .* end$/)
  expect(log[1]?.message).toBe('<![CDATA[ ]]> &amp; </msg>')
})

test('a hook that refuses a commit is quoted', async () => {
  const plain = await filled('a')
  await writeHook(join(plain.path, 'hooks', 'pre-commit'), 'echo "not on a Monday" >&2; exit 1')
  const repository = await opened(plain)
  const refused = repository.commitChanges({ ...marked('m'), changes: [put('b')] })
  const expected = { code: 'commit_refused', isRetryable: false, detail: 'not on a Monday' }
  await expect(refused).rejects.toMatchObject(expected)
})

test('a hook that fails after the commit does not hide it', async () => {
  const plain = await filled('a')
  await writeHook(join(plain.path, 'hooks', 'post-commit'), 'echo "nobody listens" >&2; exit 1')
  const repository = await opened(plain)
  expect((await repository.commitChanges({ ...marked('m'), changes: [put('b')] })).number).toBe(2)
  await using workspace = await repository.workspace({ revision: await repository.youngest() })
  await write(join(workspace.path, 'c'))
  expect((await repository.commit(workspace, marked('n')))?.number).toBe(3)
})

test('a working copy that was led elsewhere is committed where it came from', async () => {
  const plain = await filled('a')
  const repository = await opened(plain)
  await using workspace = await repository.workspace({ revision: await repository.youngest() })
  const { path } = await scratch()
  const copy = join(path, 'copy')
  await cp(plain.path, copy, { recursive: true })
  await say('svn', ['relocate', plain.options.url, `file://${copy}`, workspace.path])
  await write(join(workspace.path, 'b'))
  const made = await repository.commit(workspace, marked('here'))
  expect(made && (await paths(repository.list('', made)))).toEqual(['a', 'b'])
  expect(await say('svnlook', ['youngest', copy])).toBe('1\n')
})

test('a conflict in the workspace is not committed', async () => {
  const plain = await filled('a')
  await plain.commit((folder) => write(join(folder, 'a'), 'theirs'), 'two')
  const repository = await opened(plain)
  await using workspace = await repository.workspace({ revision: { number: 1, id: '1' } })
  await write(join(workspace.path, 'a'), 'ours')
  await say('svn', ['update', '-q', '--accept', 'postpone', workspace.path])
  await expect(repository.commit(workspace, marked('m'))).rejects.toMatchObject({ code: 'out_of_date' })
})

test('files whose line ends change on their way do not shift those beside them', async () => {
  const plain = await filled('a', 'b', 'c')
  const { url } = plain.options
  await say('svnmucc', ['-m', 'styles', 'propset', 'svn:eol-style', 'native', `${url}/b`])
  const lines = join((await scratch()).path, 'lines')
  await write(lines, 'one\r\ntwo\r\n')
  await say('svnmucc', ['-m', 'lines', 'put', lines, `${url}/b`])
  const repository = await opened(plain)
  const revision = await repository.youngest()
  const entries = repository.list('', revision)
  const contents = await collect(repository.contents(entries, revision, { headBytes: 100 }))
  const each = ['a', 'b', 'c'].map(async (path) => `${path} ${await text(repository, path, revision)}`)
  expect(contents.map(({ path, head }) => `${path} ${head.toString('utf8')}`).sort()).toEqual(await Promise.all(each))
})
