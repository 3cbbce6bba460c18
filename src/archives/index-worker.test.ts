import { randomBytes } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { anArchive, countRows, scan, stopStaging } from '../../test/archive-index.ts'
import { aWorker, useEngine } from '../../test/engine.ts'
import { waitFor } from '../../test/processes.ts'
import { git, gitFiles } from '../../test/repositories/git.ts'
import { type Ground, say } from '../../test/repositories/ground.ts'
import { opened, write } from '../../test/repositories/kit.ts'
import { spyOn } from '../../test/repositories/spy.ts'
import { svnFiles } from '../../test/repositories/svn.ts'
import { openRepository } from '../vcs/index.ts'
import { readIndex } from './index-read.ts'

const engine = useEngine()
let svn: Ground
let gitGround: Ground
beforeAll(async () => {
  svn = await svnFiles()
  gitGround = await gitFiles()
})
afterAll(async () => {
  await svn[Symbol.asyncDispose]()
  await gitGround[Symbol.asyncDispose]()
})

async function filled(ground: Ground, files: Readonly<Record<string, string | Uint8Array>>) {
  const plain = await ground.create()
  await plain.commit(async (folder) => {
    for (const [path, content] of Object.entries(files)) await write(join(folder, path), content)
  }, 'files')
  return plain
}

const many = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [`folder ${i % 10}/file ${i}`, `text ${i}\n`]))

const paths = (files: readonly { path: string }[]) => files.map(({ path }) => path)

test('only what a revision changed is read from the repository', async () => {
  const plain = await filled(svn, many(20))
  const { environment, cacheDir, arguments: said } = await spyOn(['svn'])
  const repository = openRepository({ ...plain.options, cacheDir, environment })
  const archive = await anArchive(engine, repository)
  await archive.index(1)
  const before = (await said()).length
  await plain.commit((folder) => write(join(folder, 'folder 3/file 13'), 'changed\n'), 'change')
  await archive.index(2)
  const calls = (await said()).slice(before)
  expect(calls).toContain('file%2013')
  expect(calls).not.toMatch(/file%20(?!13@)\d|svn list/)
  expect(await archive.files(2)).toEqual(await scan(repository, await repository.revision(2)))
})

test('a revision that was left out is made up for by the next', async () => {
  const plain = await filled(gitGround, { a: '1', b: '1', c: '1' })
  await plain.commit((folder) => rm(join(folder, 'a')), 'two')
  await plain.commit((folder) => write(join(folder, 'b'), '3'), 'three')
  const archive = await anArchive(engine, await opened(plain))
  await archive.index(1)
  expect((await archive.index(3)).output).toEqual({ from: 1, files: 1, left_out: 0 })
  expect(paths(await archive.files(1))).toEqual(['a', 'b', 'c'])
  expect((await archive.files(3)).map(({ path, lastChanged }) => [path, lastChanged])).toEqual([
    ['b', 3],
    ['c', 1],
  ])
  await expect(archive.files(2)).rejects.toMatchObject({ code: 'revision_not_indexed', before: 1, after: 3 })
})

test('a file that was changed and changed back was changed last by the second change', async () => {
  const plain = await filled(gitGround, { a: '1', b: '1' })
  await plain.commit((folder) => write(join(folder, 'a'), '2'), 'there')
  await plain.commit((folder) => write(join(folder, 'a'), '1'), 'and back')
  const archive = await anArchive(engine, await opened(plain))
  await archive.index(1)
  await archive.index(3)
  expect((await archive.files(3)).map(({ path, lastChanged }) => [path, lastChanged])).toEqual([
    ['a', 3],
    ['b', 1],
  ])
})

test('a revision that is indexed late is put between what was the same before and after it', async () => {
  const plain = await filled(svn, { 'folder/a': '1', 'folder/b': '1', other: '1' })
  const { url } = plain.options
  await say('svn', ['delete', '-q', '-m', 'two', `${url}/folder`])
  // The files are those of the first revision, changed last by it: no row tells that they were away.
  await say('svn', ['copy', '-q', '-m', 'three', `${url}/folder@1`, `${url}/folder`])
  const archive = await anArchive(engine, await opened(plain))
  for (const number of [1, 3, 2]) await archive.index(number)
  expect(paths(await archive.files(1))).toEqual(['folder/a', 'folder/b', 'other'])
  expect(paths(await archive.files(2))).toEqual(['other'])
  expect(await archive.files(3)).toEqual(await archive.files(1))
})

test('asked for again it finds the same, and what depends on it does not run again', async () => {
  const archive = await anArchive(engine, await opened(await filled(svn, { a: '1', 'b/c': '2' })))
  const { id } = await archive.index(1)
  const ran: unknown[] = []
  const after = aWorker({ work: () => void ran.push(1) })
  await engine.add(after, { requires: [id] })
  await engine.drain(after)
  const before = await archive.files(1)
  await engine.millrace.rerun(id)
  await engine.drain(archive.worker, after)
  expect(await archive.files(1)).toEqual(before)
  expect(ran).toEqual([1])
  expect(await countRows(engine.pool, 'index_build')).toBe(0)
})

test('asked for again it mends what is wrong, at that revision alone', async () => {
  const plain = await filled(svn, { a: '1', b: '1', c: '1' })
  await plain.commit((folder) => write(join(folder, 'new'), '2'), 'two')
  const repository = await opened(plain)
  const archive = await anArchive(engine, repository)
  const { id } = await archive.index(1)
  await archive.index(2)
  const truth = [await archive.files(1), await archive.files(2)]
  const where = `archive = (select id from millrace.archive where name = $1) and path`
  await engine.pool.query(`update millrace.indexed_file set size = 7 where ${where} = 'a'`, [archive.name])
  await engine.pool.query(`delete from millrace.indexed_file where ${where} = 'b'`, [archive.name])
  await engine.millrace.rerun(id)
  await engine.drain(archive.worker)
  expect(await archive.files(1)).toEqual(truth[0])
  expect((await archive.files(2)).find(({ path }) => path === 'a')?.size).toBe(7)
  await archive.index(2)
  expect(await archive.files(2)).toEqual(truth[1])
})

test('a task that is canceled between two batches leaves nothing that is seen', async () => {
  const repository = await opened(await filled(gitGround, many(2000)))
  const archive = await anArchive(engine, repository)
  const dispatcher = await engine.dispatch([archive.worker], { concurrency: 1 })
  const id = await archive.add(1)
  const letGo = await stopStaging(engine.pool)
  await engine.millrace.cancel(id)
  await letGo()
  await waitFor(async () => ((await engine.millrace.task(id)).state === 'canceled' ? true : undefined))
  await expect(archive.files(1)).rejects.toMatchObject({ code: 'archive_not_indexed' })
  await dispatcher.stop()
  const staged = await countRows(engine.pool, 'index_staged')
  expect(staged).toBeGreaterThan(0)
  // What it staged goes with the next one, and nothing of it is in that one's way.
  await archive.index(1)
  expect(await countRows(engine.pool, 'index_staged')).toBe(0)
  expect(await archive.files(1)).toHaveLength(2000)
})

test('an attempt whose lease is lost publishes nothing, and the next one reads nothing twice', async () => {
  const plain = await filled(gitGround, many(2000))
  const { environment, cacheDir, arguments: said } = await spyOn(['git'])
  const archive = await anArchive(engine, openRepository({ ...plain.options, cacheDir, environment }))
  const reads = async () => (await said()).match(/cat-file --batch/g)?.length ?? 0
  const lost = await engine.byHand([archive.worker])
  const id = await archive.add(1)
  const performing = lost.perform((await lost.claim())[0] as never)
  const letGo = await stopStaging(engine.pool)
  await engine.expire(lost.id)
  await letGo()
  await performing
  const before = await reads()
  expect(before).toBeGreaterThan(0)
  await expect(archive.files(1)).rejects.toMatchObject({ code: 'archive_not_indexed' })
  await engine.drain(archive.worker)
  expect((await engine.millrace.task(id)).state).toBe('succeeded')
  expect(await reads()).toBe(before)
  expect(await archive.files(1)).toHaveLength(2000)
  expect(await countRows(engine.pool, 'index_staged')).toBe(0)
})

test('two revisions that are indexed at the same time are both right', async () => {
  const plain = await filled(svn, many(10))
  for (const i of [1, 2, 3, 4]) {
    await plain.commit(async (folder) => {
      await rm(join(folder, `folder ${i}`), { recursive: true })
      await write(join(folder, 'folder 0/file 0'), `${i}`)
    }, 'change')
  }
  const repository = await opened(plain)
  const archive = await anArchive(engine, repository)
  await archive.index(1)
  const ids = await Promise.all([5, 4, 3, 2].map((number) => archive.add(number)))
  await engine.dispatch([archive.worker], { concurrency: 4 })
  await waitFor(async () => ((await engine.states(...ids)).every((state) => state === 'succeeded') ? true : undefined))
  for (const number of [1, 2, 3, 4, 5]) {
    expect(await archive.files(number)).toEqual(await scan(repository, await repository.revision(number)))
  }
})

test('after a forced push the index is that of the new history', async () => {
  const plain = await filled(gitGround, { a: '1', b: '1' })
  await plain.commit((folder) => write(join(folder, 'c'), 'gone soon'), 'two')
  const archive = await anArchive(engine, await opened(plain))
  await archive.index(1)
  await archive.index(2)
  await git(plain.path, 'update-ref', 'refs/heads/main', 'main~1')
  await plain.commit((folder) => write(join(folder, 'd'), 'instead'), 'other two')
  await plain.commit((folder) => write(join(folder, 'b'), 'changed'), 'other three')
  await archive.index(3)
  const files = await archive.files(3)
  expect(files.map(({ path, lastChanged }) => [path, lastChanged])).toEqual([
    ['a', 1],
    ['b', 3],
    ['d', 2],
  ])
  expect(paths(await archive.files(2))).toEqual(['a', 'b', 'c'])
})

/** Records commits as the revisions that an archive has planned. */
async function recordRevisions(archive: string, commits: Readonly<Record<number, string>>): Promise<void> {
  for (const [number, id] of Object.entries(commits))
    await engine.pool.query(
      `with kept as (
         insert into millrace.definition (hash, files) values ('', '[]') on conflict (hash) do update set files = '[]'
         returning hash
       )
       insert into millrace.revision (archive, number, id, message, changes, definition)
       select a.id, $2, $3, '', '[]', kept.hash from millrace.archive a, kept where a.name = $1`,
      [archive, number, id],
    )
}

test('after an accepted rewriting a file was changed last by a revision of the archive', async () => {
  const plain = await filled(gitGround, { a: '1', b: '1' })
  const commit = async (file: string, text: string) => {
    await plain.commit((folder) => write(join(folder, file), text), text)
    return (await git(plain.path, 'rev-parse', 'main')).trim()
  }
  const first = (await git(plain.path, 'rev-parse', 'main')).trim()
  const old = { 1: first, 2: await commit('c', 'gone soon'), 3: await commit('b', 'gone soon') }
  const repository = await opened(plain)
  const [whole, onward, unshared] = [
    await anArchive(engine, repository),
    await anArchive(engine, repository),
    await anArchive(engine, repository),
  ]
  await whole.index(3)
  await onward.index(1)
  await git(plain.path, 'update-ref', 'refs/heads/main', 'main~2')
  const now = { 4: await commit('d', 'instead'), 5: await commit('b', 'changed') }
  const rev = { number: 5, id: now[5] }
  for (const { name } of [whole, onward]) await recordRevisions(name, { ...old, ...now })
  for (const archive of [whole, onward]) {
    await archive.index(rev)
    expect((await archive.files(5)).map(({ path, lastChanged }) => [path, lastChanged])).toEqual([
      ['a', 1],
      ['b', 5],
      ['d', 4],
    ])
  }
  // Only the last commit was planned: the others have no numbers, and theirs name revisions that are gone.
  await recordRevisions(unshared.name, { 1: old[2], 2: old[3], 5: now[5] })
  await unshared.index(rev)
  expect((await unshared.files(5)).map(({ path, lastChanged }) => [path, lastChanged])).toEqual([
    ['a', null],
    ['b', 5],
    ['d', null],
  ])
})

test('a repository that does not answer is asked again later', async () => {
  const plain = await filled(svn, { a: '1' })
  const repository = await opened(plain)
  const archive = await anArchive(engine, repository)
  const id = await archive.add(1)
  await say('mv', [plain.path, `${plain.path}.away`])
  await engine.drain(archive.worker)
  expect((await engine.millrace.task(id)).state).toBe('delayed')
  await say('mv', [`${plain.path}.away`, plain.path])
  await engine.millrace.cancel(id)
  await archive.index(1)
  expect(paths(await archive.files(1))).toEqual(['a'])
})

test('texts are kept once for all files with the same bytes, and other files have none', async () => {
  const before = await countRows(engine.pool, 'indexed_text')
  const text = 'the same words in all of them\n'
  const plain = await filled(svn, {
    a: text,
    'b/a': text,
    binary: randomBytes(5000),
    empty: '',
    'utf-16': Buffer.from('\ufeffMühlrad in UTF-16', 'utf16le'),
    'latin-1': Buffer.from('Mühlbach', 'latin1'),
    large: `needle ${'x '.repeat(400_000)} haystack`,
  })
  const archive = await anArchive(engine, await opened(plain))
  await archive.index(1)
  expect(await countRows(engine.pool, 'indexed_text')).toBe(before + 4)
  const found = async (q: string) =>
    paths((await readIndex(engine.pool, { archive: archive.name, q, limit: 10 })).items)
  expect(await found('words same')).toEqual(['a', 'b/a'])
  expect(await found('MÜHLRAD')).toEqual(['utf-16'])
  expect(await found('mühlb*')).toEqual(['latin-1'])
  expect(await found('needle')).toEqual(['large'])
  expect(await found('haystack')).toEqual([])
})

test('names that no index can hold are left out and counted', async () => {
  const plain = await filled(gitGround, { a: '1', [`${'long/'.repeat(500)}file`]: '1' })
  const name = `printf 1 > "$1/$(printf 'not \\377 UTF-8')"`
  await plain.commit((folder) => say('sh', ['-c', name, '-', folder]), 'two')
  const archive = await anArchive(engine, await opened(plain))
  expect((await archive.index(2)).output).toEqual({ from: null, files: 1, left_out: 2 })
  expect(paths(await archive.files(2))).toEqual(['a'])
})
