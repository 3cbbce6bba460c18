import { createHash } from 'node:crypto'
import { mkdir, readdir, readFile, rm, stat, truncate, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { git, gitFiles } from '../../test/repositories/git.ts'
import { type Ground, type Plain, say } from '../../test/repositories/ground.ts'
import { marked, opened, paths, put, text, write } from '../../test/repositories/kit.ts'
import { spyOn } from '../../test/repositories/spy.ts'
import { writeHook } from '../../test/repositories/svn.ts'
import { scratch } from '../../test/scratch.ts'
import { collect } from './index.ts'
import { testRepository } from './repository.suite.ts'

testRepository('git by its path', gitFiles)

let ground: Ground
beforeAll(async () => {
  ground = await gitFiles()
})
afterAll(() => ground[Symbol.asyncDispose]())

async function filled(...names: string[]): Promise<Plain> {
  const plain = await ground.create()
  for (const name of names) await plain.commit((folder) => write(join(folder, name), name), name)
  return plain
}

/** A clone of the person's own, for what is more than a commit. */
async function cloned(plain: Plain) {
  const { path } = await scratch()
  await git(path, 'clone', '--quiet', plain.path, 'clone')
  const clone = join(path, 'clone')
  return { path: clone, run: (...args: string[]) => git(clone, ...args) }
}

const mirrorIn = async (cacheDir: string) => {
  const [name = ''] = await readdir(cacheDir)
  return join(cacheDir, name, 'mirror.git')
}

test('a range of the log is one call, however many revisions it has', async () => {
  const plain = await filled('a', 'b', 'c', 'd')
  const spy = await spyOn(['git'])
  const repository = await opened(plain, { environment: spy.environment, cacheDir: spy.cacheDir })
  expect(await collect(repository.log({ after: await repository.revision(1) }))).toHaveLength(3)
  expect((await spy.arguments()).match(/ log -z /g)).toHaveLength(1)
})

test('the marker is a trailer of the message', async () => {
  const plain = await filled('a')
  const repository = await opened(plain)
  await repository.commitChanges({ ...marked('CS-1'), changes: [put('b')] })
  await using workspace = await repository.workspace({ revision: await repository.youngest() })
  await write(join(workspace.path, 'c'))
  await repository.commit(workspace, marked('CS-2'))
  const trailers = '--format=%s|%(trailers:key=Millrace-Cause,valueonly,separator=%x2C)'
  expect(await git(plain.path, 'log', trailers, 'main')).toBe('made by CS-2|CS-2\nmade by CS-1|CS-1\na|\n')
})

test('a merge is one revision, with what it brought to the branch', async () => {
  const plain = await filled('a')
  const { path, run } = await cloned(plain)
  await run('checkout', '--quiet', '-b', 'topic')
  for (const name of ['b', 'c']) {
    await write(join(path, name))
    await run('add', '--all')
    await run('commit', '--quiet', '-m', name)
  }
  await run('checkout', '--quiet', 'main')
  await write(join(path, 'd'))
  await run('add', '--all')
  await run('commit', '--quiet', '-m', 'd')
  await run('merge', '--quiet', '--no-ff', '-m', 'merged', 'topic')
  await run('push', '--quiet')
  const log = await collect((await opened(plain)).log())
  expect(log.map(({ number, message }) => [number, message])).toEqual([
    [1, 'a'],
    [2, 'd'],
    [3, 'merged'],
  ])
  expect(log[2]?.changes.map(({ action, path }) => `${action} ${path}`)).toEqual(['A b', 'A c'])
})

test('a history that was rewritten is not continued', async () => {
  const plain = await filled('a', 'b', 'c')
  const repository = await opened(plain)
  const [first, second, known] = await collect(repository.log())
  if (!first || !second || !known) throw new Error('revisions are missing')
  const { path, run } = await cloned(plain)
  await run('reset', '--quiet', '--hard', 'HEAD~1')
  await run('push', '--quiet', '--force')
  const after = () => collect(repository.log({ after: known }))
  await expect(after()).rejects.toMatchObject({ code: 'history_rewritten', known: known.id, found: second.id })
  await write(join(path, 'other'))
  await run('add', '--all')
  await run('commit', '--quiet', '-m', 'other')
  await run('push', '--quiet')
  const youngest = await repository.youngest()
  expect(youngest.number).toBe(3)
  const rewritten = { code: 'history_rewritten', isRetryable: false, known: known.id, found: youngest.id }
  await expect(after()).rejects.toMatchObject(rewritten)
  await expect(repository.findMarker('m', { since: known })).rejects.toMatchObject(rewritten)
  // A cache that never saw the old commits says the same.
  await expect(collect((await opened(plain)).log({ after: known }))).rejects.toMatchObject(rewritten)
  expect((await collect(repository.log({ after: second }))).map(({ message }) => message)).toEqual(['other'])
})

test('a merge the wrong way round, which renumbers the branch, counts as rewriting it', async () => {
  const plain = await filled('a', 'b')
  const repository = await opened(plain)
  const known = await repository.youngest()
  const { path, run } = await cloned(plain)
  await run('checkout', '--quiet', '-b', 'mine', 'HEAD~1')
  for (const name of ['x', 'y']) {
    await write(join(path, name))
    await run('add', '--all')
    await run('commit', '--quiet', '-m', name)
  }
  await run('merge', '--quiet', '-m', 'main into mine', 'main')
  // No force is needed: for git this is progress.
  await run('push', '--quiet', 'origin', 'mine:main')
  const youngest = await repository.youngest()
  expect(youngest.number).toBe(4)
  const rewritten = { code: 'history_rewritten', known: known.id, found: youngest.id }
  await expect(collect(repository.log({ after: known }))).rejects.toMatchObject(rewritten)
})

test('another repository at the same address is not taken for the old one', async () => {
  const [plain, other] = [await filled('a'), await filled('b')]
  const identity = await (await opened(plain)).identity()
  if (identity === undefined) throw new Error('the repository has no identity')
  const repository = await opened(other, { identity })
  await expect(repository.youngest()).rejects.toMatchObject({ code: 'history_rewritten', known: identity })
  expect((await (await opened(plain, { identity })).youngest()).number).toBe(1)
})

test('the branch is the one asked for, or else the first of the repository', async () => {
  const plain = await filled('a')
  await git(plain.path, 'branch', 'release/1.0')
  const absent = await opened(plain, { branch: 'relaese' })
  await expect(absent.youngest()).rejects.toMatchObject({ code: 'branch_not_found', isRetryable: false })
  await expect(absent.youngest()).rejects.toThrowError(/main, release\/1\.0/)
  const { type, url } = plain.options
  const first = await opened({ ...plain, options: { type, url } })
  expect((await first.youngest()).number).toBe(1)
  const { path: cacheDir } = await scratch()
  const [main, release] = [await opened(plain, { cacheDir }), await opened(plain, { cacheDir, branch: 'release/1.0' })]
  await main.commitChanges({ ...marked('m'), changes: [put('b')] })
  expect([(await main.youngest()).number, (await release.youngest()).number]).toEqual([2, 1])
})

test('names and links that only git allows are read and written', async () => {
  const plain = await ground.create()
  const name = 'line\nfeed\ttab'
  await plain.commit(async (folder) => {
    await write(join(folder, name), 'x')
    await say('ln', ['-s', 'x', join(folder, 'link')])
  }, 'one')
  const repository = await opened(plain)
  const base = await repository.youngest()
  expect(await text(repository, name, base)).toBe('x')
  expect(await repository.stat('link', base)).toMatchObject({ kind: 'link' })
  const made = await repository.commitChanges({ ...marked('m'), changes: [put(`${name}2`, 'y')] })
  expect(await paths(repository.diff(base, made))).toEqual([`${name}2`])
  await using workspace = await repository.workspace({ revision: made })
  await rm(join(workspace.path, 'link'))
  await write(join(workspace.path, 'link'), 'a file')
  await write(join(workspace.path, `${name}3`), 'z')
  const last = await repository.commit(workspace, marked('n'))
  const [entry] = await collect(repository.log({ after: made }))
  expect(entry?.changes.map(({ action, path }) => [action, path]).sort()).toEqual([
    ['A', `${name}3`],
    ['R', 'link'],
  ])
  expect(last && (await text(repository, `${name}3`, last))).toBe('z')
})

test('a file whose name is not UTF-8 is not committed under another name', async () => {
  const repository = await opened(await filled('a'))
  await using workspace = await repository.workspace({ revision: await repository.youngest() })
  const name = Buffer.concat([Buffer.from(join(workspace.path, 'caf')), Buffer.from([0xe9])])
  await writeFile(name, 'x')
  await expect(repository.commit(workspace, marked('m'))).rejects.toMatchObject({ code: 'invalid_change' })
})

test('hooks of the repository have their say, hooks and settings inside a workspace have none', async () => {
  const plain = await filled('a')
  const repository = await opened(plain)
  const { path } = await scratch()
  const told = join(path, 'told')
  await using workspace = await repository.workspace({ revision: await repository.youngest() })
  const inside = join(workspace.path, '.git')
  await mkdir(join(inside, 'hooks'))
  for (const hook of ['pre-commit', 'pre-push', 'post-index-change', 'reference-transaction']) {
    await writeHook(join(inside, 'hooks', hook), `touch '${told}'; exit 1`)
  }
  const evil = `[core]\n\tfsmonitor = touch '${told}'\n[filter "x"]\n\tclean = touch '${told}'\n`
  await writeFile(join(inside, 'config'), evil)
  await write(join(workspace.path, '.gitattributes'), '* filter=x\n')
  await writeHook(join(plain.path, 'hooks', 'post-receive'), `echo received >> '${join(path, 'server')}'`)
  expect((await repository.commit(workspace, marked('m')))?.number).toBe(2)
  await expect(stat(told)).rejects.toMatchObject({ code: 'ENOENT' })
  expect(await readFile(join(path, 'server'), 'utf8')).toBe('received\n')
  await writeHook(join(plain.path, 'hooks', 'pre-receive'), 'echo "not on a Monday" >&2; exit 1')
  await write(join(workspace.path, 'b'))
  const refused = { code: 'commit_refused', isRetryable: false, detail: 'not on a Monday' }
  await expect(repository.commit(workspace, marked('n'))).rejects.toMatchObject(refused)
})

test('git in a workspace does what one expects of it', async () => {
  const plain = await filled('a', 'b')
  const repository = await opened(plain)
  const revision = await repository.youngest()
  for (const name of ['c', 'd']) {
    await using workspace = await repository.workspace({ revision: await repository.youngest() })
    const run = (...args: string[]) => git(workspace.path, ...args)
    expect(await run('status', '--porcelain')).toBe('')
    expect((await run('log', '--format=%s')).split('\n').slice(-3)).toEqual(['b', 'a', ''])
    await write(join(workspace.path, name))
    await run('add', '--all')
    await run('commit', '--quiet', '-m', `by the task: ${name}`)
    await run('push', '--quiet')
  }
  const log = await collect(repository.log({ after: revision }))
  expect(log.map(({ message }) => message)).toEqual(['by the task: c', 'by the task: d'])
})

test('a workspace commits neither what is ignored nor a repository inside it', async () => {
  const plain = await ground.create()
  await plain.commit((folder) => write(join(folder, '.gitignore'), '*.tmp\n'), 'one')
  const repository = await opened(plain)
  await using workspace = await repository.workspace({ revision: await repository.youngest() })
  await write(join(workspace.path, 'x.tmp'))
  expect(await repository.commit(workspace, marked('ignored'))).toBeUndefined()
  await git(workspace.path, 'clone', '--quiet', plain.path, 'inner')
  await expect(repository.commit(workspace, marked('inner'))).rejects.toMatchObject({ code: 'invalid_change' })
})

test('a branch that somebody has checked out is not pushed to', async () => {
  const plain = await filled('a')
  const { path } = await cloned(plain)
  const repository = await opened(plain, { url: path })
  const commit = repository.commitChanges({ ...marked('m'), changes: [put('b')] })
  await expect(commit).rejects.toMatchObject({ code: 'commit_refused', remedy: expect.stringContaining('bare') })
})

test('a damaged mirror is made anew', async () => {
  const plain = await filled('a', 'b')
  const { path: cacheDir } = await scratch()
  const revision = await (await opened(plain, { cacheDir })).youngest()
  const mirror = await mirrorIn(cacheDir)
  const damages = [
    () => rm(join(mirror, 'HEAD')),
    () => rm(mirror, { recursive: true }),
    async () => {
      const entries = await readdir(join(mirror, 'objects'), { recursive: true, withFileTypes: true })
      for (const entry of entries) if (entry.isFile()) await truncate(join(entry.parentPath, entry.name), 0)
    },
    () => writeFile(join(mirror, 'config'), 'no configuration'),
  ]
  for (const damage of damages) {
    const repository = await opened(plain, { cacheDir })
    await using workspace = await repository.workspace({ revision })
    await damage()
    expect(await text(repository, 'a', revision)).toBe('a')
    expect(await readFile(join(workspace.path, 'b'), 'utf8')).toBe('b')
    expect((await repository.youngest()).number).toBe(2)
  }
})

test('many who begin with an empty cache at once all read the same history', async () => {
  const plain = await filled('a', 'b')
  const known = await opened(plain)
  const [first, last] = [await known.revision(1), await known.youngest()]
  for (let round = 0; round < 6; round += 1) {
    const { path: cacheDir } = await scratch()
    const readers = Array.from({ length: 8 }, async (_, i) => {
      const repository = await opened(plain, { cacheDir })
      if (i % 2 === 0) return text(repository, 'b', last)
      return (await collect(repository.log({ after: first }))).map(({ number }) => number)
    })
    expect(await Promise.all(readers)).toEqual(readers.map((_, i) => (i % 2 === 0 ? 'b' : [2])))
  }
})

test('a lock that a killed fetch left in the mirror does not stay for ever', async () => {
  const plain = await filled('a')
  const { path: cacheDir } = await scratch()
  const repository = await opened(plain, { cacheDir })
  await repository.youngest()
  const mirror = await mirrorIn(cacheDir)
  const [ref = ''] = await readdir(join(mirror, 'refs', 'millrace'))
  const file = join(mirror, 'refs', 'millrace', `${ref}.lock`)
  const longAgo = new Date(Date.now() - 600_000)
  await writeFile(file, '')
  await utimes(file, longAgo, longAgo)
  await plain.commit((folder) => write(join(folder, 'b')), 'b')
  expect((await repository.youngest()).number).toBe(2)
})

test('what many fetches leave behind is gathered, and nothing of it lost', async () => {
  const plain = await filled('a', 'b')
  const { path: cacheDir } = await scratch()
  const repository = await opened(plain, { cacheDir })
  const known = await repository.youngest()
  const mirror = await mirrorIn(cacheDir)
  const { run } = await cloned(plain)
  await run('reset', '--quiet', '--hard', 'HEAD~1')
  await run('push', '--quiet', '--force')
  // Git judges the number of loose objects by one of 256 folders; so many in it mean that it is time.
  const inFolder = (text: string) =>
    createHash('sha1').update(`blob ${text.length}\0${text}`).digest('hex').startsWith('17')
  const texts = Array.from({ length: 15_000 }, (_, i) => `${i}`).filter(inFolder)
  expect(texts.length).toBeGreaterThan(30)
  const { path } = await scratch()
  for (const text of texts) await writeFile(join(path, text), text)
  const files = texts.map((text) => join(path, text))
  await say('git', [`--git-dir=${mirror}`, 'hash-object', '-w', ...files])
  expect((await repository.youngest()).number).toBe(1)
  expect((await readdir(join(mirror, 'objects', '17')).catch(() => [])).length).toBe(0)
  expect(await text(repository, 'b', known)).toBe('b')
})
