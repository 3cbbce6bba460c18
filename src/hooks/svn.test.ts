import { execFile } from 'node:child_process'
import { chmod, readdir, readFile, rename, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { anSvnRepository, installAt } from '../../test/hooks.ts'
import { waitFor } from '../../test/processes.ts'
import { runProgram } from '../../test/program.ts'
import { aReceiver } from '../../test/receiver.ts'
import { say } from '../../test/repositories/ground.ts'
import { freePort } from '../../test/repositories/svn.ts'
import { scratch } from '../../test/scratch.ts'
import { examineHook, findRepository, listInstalled, tryHook, uninstall } from './index.ts'

const run = promisify(execFile)
const spoolOf = (folder: string) => readdir(join(folder, 'spool'))

test('A13: a commit is announced, whatever the path and the archive are called', async () => {
  const repo = await anSvnRepository(`it's a "repo"@2 $HOME #é`)
  const receiver = await aReceiver()
  await installAt({ kind: 'svn', path: repo.path }, { archive: `Ünï/co'de "x" %2F`, url: receiver.url })
  await repo.commit()
  const [notice] = await receiver.count(1)
  expect(notice).toMatchObject({
    method: 'POST',
    path: `/v1/archives/${encodeURIComponent(`Ünï/co'de "x" %2F`)}/commits`,
    headers: { authorization: 'Bearer mr_of-the-hook', 'content-type': 'application/json' },
  })
  expect(JSON.parse(notice?.body ?? '')).toMatchObject({ rev: 1, txn: expect.stringMatching(/^0-/) })
})

const TOOLS = ['date', 'mv', 'rm', 'ln', 'readlink', 'sort', 'ls', 'tail', 'sed', 'grep']

/** A folder with the tools of every system and one program that can send. */
async function folderWith(sender: string) {
  const { path } = await scratch()
  for (const tool of [...TOOLS, sender]) {
    const { stdout } = await run('/bin/sh', ['-c', `command -v ${tool}`])
    await symlink(stdout.trim(), join(path, tool))
  }
  return path
}

test.each(['curl', 'wget', 'perl', 'bash'])('%s alone is enough to announce and to ask', async (sender) => {
  const repo = await anSvnRepository()
  const receiver = await aReceiver((response) => response.writeHead(202).end('{}'))
  const url = `${receiver.url}behind/a/proxy/`
  const { folder, repository } = await installAt({ kind: 'svn', path: repo.path }, { url })
  const settings = await readFile(join(folder, 'settings'), 'utf8')
  await writeFile(join(folder, 'settings'), settings.replace(/^path=.*$/m, `path='${await folderWith(sender)}'`))
  await repo.commit()
  const [notice] = await receiver.count(1)
  expect(notice?.path).toBe('/behind/a/proxy/v1/archives/Book/commits')
  expect(notice?.headers).toMatchObject({ authorization: 'Bearer mr_of-the-hook', 'content-type': 'application/json' })
  expect(JSON.parse(notice?.body ?? '')).toMatchObject({ rev: 1 })
  await waitFor(async () => (await spoolOf(folder)).length === 0 || undefined)
  expect((await listInstalled(repository))[0]?.last).toMatchObject({ status: 202, sender })
})

test('A13: a committer does not wait for a server that never answers', async () => {
  const repo = await anSvnRepository()
  const receiver = await aReceiver(() => {})
  await installAt({ kind: 'svn', path: repo.path }, { url: receiver.url })
  // The answer is never given: were the commit to wait, it would not end while the question is open.
  await repo.commit()
  await receiver.count(1)
  expect(await new Promise((resolve) => receiver.server.getConnections((_, count) => resolve(count)))).toBe(1)
})

test('A13: what a server that is away does not hear is sent with the next commit', async () => {
  const repo = await anSvnRepository()
  const port = await freePort()
  const { folder } = await installAt({ kind: 'svn', path: repo.path }, { url: `http://127.0.0.1:${port}` })
  const said = await run('svn', ['mkdir', '-m', 'x', `${repo.url}/a`])
  expect(said.stdout).not.toContain('hook')
  await repo.commit()
  const last = () => readFile(join(folder, 'last'), 'utf8').catch(() => '')
  await waitFor(async () => /\b000 .* 0*2$/m.test(await last()) || undefined)
  expect(await spoolOf(folder)).toEqual(['000000000000001', '000000000000002'])

  const receiver = await aReceiver((response) => response.writeHead(202).end(), '127.0.0.1', port)
  await repo.commit()
  await waitFor(async () => (await spoolOf(folder)).length === 0 || undefined)
  expect(new Set(receiver.received.map(({ body }) => JSON.parse(body).rev))).toEqual(new Set([1, 2, 3]))
})

test('what the server will never take is forgotten, what it may take later is kept', async () => {
  const repo = await anSvnRepository()
  let status = 503
  const receiver = await aReceiver((response) => response.writeHead(status).end())
  const { folder, repository } = await installAt({ kind: 'svn', path: repo.path }, { url: receiver.url })
  const heard = async (wanted: number) =>
    waitFor(async () => (await listInstalled(repository))[0]?.last?.status === wanted || undefined)
  await repo.commit()
  await heard(503)
  expect(await spoolOf(folder)).toHaveLength(1)
  status = 422
  await repo.commit()
  await heard(422)
  await waitFor(async () => (await spoolOf(folder)).length === 1 || undefined)
})

test('a hook without its folder, its settings or the right to write does not fail a commit', async () => {
  const repo = await anSvnRepository()
  const { folder } = await installAt({ kind: 'svn', path: repo.path }, { url: 'http://127.0.0.1:1' })
  for (const spoil of [
    () => rm(join(folder, 'spool'), { recursive: true }),
    () => rm(join(folder, 'token')),
    () => writeFile(join(folder, 'settings'), 'syntax error (\n'),
    () => rm(join(folder, 'settings')),
    () => rm(folder, { recursive: true }),
  ]) {
    await spoil()
    const { stdout } = await run('svn', ['mkdir', '-m', 'x', `${repo.url}/${Math.random()}`])
    expect(stdout).not.toContain('hook')
  }
})

test('all of many commits at once are announced', async () => {
  const repo = await anSvnRepository()
  const receiver = await aReceiver()
  await installAt({ kind: 'svn', path: repo.path }, { url: receiver.url })
  await Promise.all(Array.from({ length: 12 }, (_, i) => repo.commit(`at-once-${i}`)))
  await waitFor(async () => new Set(receiver.received.map(({ body }) => JSON.parse(body).rev)).size === 12 || undefined)
})

test('the token is in a file that only the owner of the repository reads, who runs the hook', async () => {
  const repo = await anSvnRepository()
  const owner = process.getuid?.() === 0 ? 65534 : (process.getuid?.() ?? 0)
  await run('chown', ['-R', String(owner), repo.path])
  const receiver = await aReceiver((response) => response.writeHead(200).end())
  const { folder } = await installAt({ kind: 'svn', path: repo.path }, { url: receiver.url })
  const { uid, mode } = await stat(join(folder, 'token'))
  expect([uid, mode & 0o777]).toEqual([owner, 0o600])
  const place = { kind: 'svn', path: repo.path } as const
  expect(await examineHook(place, 'Book')).toMatchObject({ state: 'good' })
  await chmod(join(folder, 'token'), 0o644)
  expect(await examineHook(place, 'Book')).toMatchObject({
    state: 'bad',
    evidence: expect.stringContaining('everybody'),
  })
})

test('what else is in a hook stays, runs after the announcement, and may end as it likes', async () => {
  const repo = await anSvnRepository()
  const file = join(repo.path, 'hooks', 'post-commit')
  const before = `#!/bin/sh\nset -eu\n# caf\xe9\necho "$2" >>"$1/mine"\nexit 0\n`
  await writeFile(file, before, 'latin1')
  await chmod(file, 0o711)
  const receiver = await aReceiver()
  const place = { kind: 'svn', path: repo.path } as const
  await installAt(place, { url: receiver.url })
  const installed = await readFile(file, 'latin1')
  await installAt(place, { url: receiver.url })
  expect(await readFile(file, 'latin1')).toBe(installed)
  await repo.commit()
  await receiver.count(1)
  expect(await readFile(join(repo.path, 'mine'), 'utf8')).toBe('1\n')
  expect((await stat(file)).mode & 0o777).toBe(0o711)
  await uninstall(await findRepository(place))
  expect(await readFile(file, 'latin1')).toBe(before)
})

test('a hook in another language is called after the announcement, and is as before afterwards', async () => {
  const repo = await anSvnRepository()
  const file = join(repo.path, 'hooks', 'post-commit')
  const before = '#!/usr/bin/perl\nopen my $out, ">>", "$ARGV[0]/mine"; print $out "$ARGV[1]\\n"; exit 3\n'
  await writeFile(file, before)
  await chmod(file, 0o755)
  const receiver = await aReceiver()
  const place = { kind: 'svn', path: repo.path } as const
  const { wrapped } = await installAt(place, { url: receiver.url })
  expect(wrapped).toEqual([`${file}.before-millrace`])
  // Its own end is told as before.
  expect((await run('svn', ['mkdir', '-m', 'x', `${repo.url}/a`])).stdout).toContain('exit code 3')
  await receiver.count(1)
  expect(await readFile(join(repo.path, 'mine'), 'utf8')).toBe('1\n')
  await installAt(place, { url: receiver.url })
  await uninstall(await findRepository(place))
  expect(await readFile(file, 'utf8')).toBe(before)
  expect((await readdir(join(repo.path, 'hooks'))).filter((name) => name.includes('millrace'))).toEqual([])
})

test('a file that several repositories share by a link is left alone', async () => {
  const repo = await anSvnRepository()
  const shared = join((await scratch()).path, 'shared')
  await writeFile(shared, '#!/bin/sh\necho "$2" >"$1/mine"\n')
  await chmod(shared, 0o755)
  const file = join(repo.path, 'hooks', 'post-commit')
  await symlink(shared, file)
  const receiver = await aReceiver()
  await installAt({ kind: 'svn', path: repo.path }, { url: receiver.url })
  expect(await readFile(shared, 'utf8')).not.toContain('millrace')
  // What they change there goes on to hold here.
  await writeFile(shared, '#!/bin/sh\necho "$2 by another" >"$1/mine"\n')
  await repo.commit()
  await receiver.count(1)
  expect(await readFile(join(repo.path, 'mine'), 'utf8')).toBe('1 by another\n')
})

test('a hook that somebody switched off is not switched on', async () => {
  const repo = await anSvnRepository()
  await writeFile(join(repo.path, 'hooks', 'post-commit'), '#!/bin/sh\nrm -rf everything\n', { mode: 0o644 })
  const installing = installAt({ kind: 'svn', path: repo.path }, { url: 'http://127.0.0.1:1' })
  await expect(installing).rejects.toMatchObject({ code: 'hook_refused' })
  expect(await readdir(repo.path)).not.toContain('millrace')
})

test('a folder that is no repository is refused, and so is an address with a password', async () => {
  const { path } = await scratch()
  await expect(findRepository({ kind: 'svn', path })).rejects.toMatchObject({ code: 'not_a_repository' })
  const repo = await anSvnRepository()
  const installing = installAt({ kind: 'svn', path: repo.path }, { url: 'http://ada:hush@127.0.0.1/' })
  await expect(installing).rejects.toMatchObject({ code: 'hook_refused' })
})

test('whoever may not write to the repository is told who may', async () => {
  const repo = await anSvnRepository()
  const receiver = await aReceiver((response, { path }) => {
    const body = path === '/v1/tokens' ? { id: '1', secret: 'mr_new' } : { source: { type: 'svn' } }
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  })
  await run('chmod', ['-R', 'a-w', repo.path])
  // Root may do everything, so that it takes another user.
  const owner = process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : undefined
  const args = ['hook', 'install', '--svn', repo.path, '--archive', 'Book', '--server', receiver.url]
  const refused = runProgram('src/bin.ts', { args, owner, env: { MILLRACE_TOKEN: 'mr_any' } })
  expect(await refused.exitCode, refused.stderr()).toBe(5)
  expect(refused.stderr()).toContain('to whom the repository belongs')
})

test('a folder of ours that leads elsewhere is refused', async () => {
  const repo = await anSvnRepository()
  const elsewhere = await scratch()
  await symlink(elsewhere.path, join(repo.path, 'millrace'))
  const installing = installAt({ kind: 'svn', path: repo.path }, { url: 'http://127.0.0.1:1' })
  await expect(installing).rejects.toMatchObject({ code: 'hook_refused' })
  expect(await readdir(elsewhere.path)).toEqual([])
})

test('a repository that is moved goes on, and a copy made by Subversion announces nothing', async () => {
  const repo = await anSvnRepository()
  const receiver = await aReceiver()
  await installAt({ kind: 'svn', path: repo.path }, { url: receiver.url })
  const copy = `${repo.path}-copy`
  await say('svnadmin', ['hotcopy', repo.path, copy])
  await say('svn', ['mkdir', '-m', 'x', `file://${copy}/a`])
  const moved = `${repo.path}-moved`
  await rename(repo.path, moved)
  await say('svn', ['mkdir', '-m', 'x', `file://${moved}/b`])
  await say('svn', ['mkdir', '-m', 'x', `file://${moved}/c`])
  await say('svn', ['mkdir', '-m', 'x', `file://${copy}/d`])
  await say('svn', ['mkdir', '-m', 'x', `file://${moved}/e`])
  const rev3 = () => receiver.received.some(({ body }) => JSON.parse(body).rev === 3)
  await waitFor(() => rev3() || undefined)
  // A notice is in the spool until `last` tells of it.
  expect(await readdir(join(copy, 'millrace', 'Book', 'spool'))).toEqual([])
  expect(await readdir(join(copy, 'millrace', 'Book'))).not.toContain('last')
  expect(await examineHook({ kind: 'svn', path: copy }, 'Book')).toMatchObject({ state: 'warning' })
})

test('one repository can tell two archives, and stop telling one', async () => {
  const repo = await anSvnRepository()
  const receiver = await aReceiver()
  const place = { kind: 'svn', path: repo.path } as const
  await installAt(place, { url: receiver.url, archive: 'Book' })
  const { repository } = await installAt(place, { url: receiver.url, archive: 'Site' })
  await repo.commit()
  const told = (rev: number) =>
    new Set(receiver.received.filter(({ body }) => JSON.parse(body).rev === rev).map(({ path }) => path))
  await waitFor(() => told(1).size === 2 || undefined)
  expect(told(1)).toEqual(new Set(['/v1/archives/Book/commits', '/v1/archives/Site/commits']))
  expect(await uninstall(repository, 'Book')).toMatchObject({ archives: ['Book'], tokenIds: ['7'] })
  await repo.commit()
  await waitFor(() => told(2).size > 0 || undefined)
  expect(told(2)).toEqual(new Set(['/v1/archives/Site/commits']))
  await uninstall(repository)
  await expect(uninstall(repository)).rejects.toMatchObject({ code: 'hook_not_found' })
  expect(await readdir(join(repo.path, 'hooks'))).not.toContain('post-commit')
})

test('trying a hook does what it does, without what else is in the file', async () => {
  const repo = await anSvnRepository()
  const file = join(repo.path, 'hooks', 'post-commit')
  await writeFile(file, '#!/bin/sh\necho "$2" >>"$1/mine"\n', { mode: 0o755 })
  const receiver = await aReceiver((response) => response.writeHead(200).end())
  const place = { kind: 'svn', path: repo.path } as const
  const { repository, folder } = await installAt(place, { url: receiver.url })
  const before = await tryHook(repository)
  expect(before).toMatchObject([{ archive: 'Book', announced: null, status: 200 }])
  expect(receiver.received.map(({ method, path }) => `${method} ${path}`)).toEqual(['GET /v1/me'])
  await repo.commit()
  await receiver.count(2)
  await waitFor(async () => (await spoolOf(folder)).length === 0 || undefined)
  const tried = await tryHook(repository)
  expect(tried).toMatchObject([{ archive: 'Book', announced: 'r1', status: 200, waiting: 0 }])
  expect(await readFile(join(repo.path, 'mine'), 'utf8')).toBe('1\n')
})

test('a server that is away is told by the look at a hook, and what waited is sent by the next look', async () => {
  const repo = await anSvnRepository()
  const port = await freePort()
  const place = { kind: 'svn', path: repo.path } as const
  const { folder } = await installAt(place, { url: `http://127.0.0.1:${port}` })
  await repo.commit()
  await waitFor(async () => (await readFile(join(folder, 'last'), 'utf8').catch(() => '')) || undefined)
  expect(await examineHook(place, 'Book')).toMatchObject({
    state: 'warning',
    evidence: expect.stringContaining('no server'),
  })
  await aReceiver((response) => response.writeHead(200).end(), '127.0.0.1', port)
  const found = await examineHook(place, 'Book')
  expect(found).toMatchObject({ state: 'good', evidence: expect.stringContaining('1 that had waited') })
  expect(await examineHook(place, 'Site')).toMatchObject({
    state: 'warning',
    fix: expect.stringContaining('hook install'),
  })
})
