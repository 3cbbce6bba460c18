import { readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { planned, useArchiveServer } from '../../test/archives.ts'
import { begin, commandLineOf } from '../../test/command-line.ts'
import { anSvnRepository, hookedGround } from '../../test/hooks.ts'
import { git, initBare } from '../../test/repositories/git.ts'
import type { Finding } from './host.ts'

const server = useArchiveServer()

test('an administrator installs a hook whose token may announce to its archive and nothing else', async () => {
  const cli = commandLineOf(server)
  const { path } = await anSvnRepository()
  const tokens = async () => (await server.ask('GET', '/v1/tokens')).json.items
  const before = await tokens()
  const installed = await cli(['hook', 'install', '--svn', path, '--archive', 'My Project', '--json'])
  expect(installed.exitCode, installed.stderr).toBe(0)
  expect(JSON.parse(installed.stdout)).toMatchObject({ archive: 'My Project', reached: true, wrapped: [] })
  const token = (await readFile(join(path, 'millrace', 'My%20Project', 'token'), 'utf8')).trim()
  const me = await server.ask('GET', '/v1/me', { token })
  expect(me.json).toMatchObject({ role: null, limit: { to: 'archive', name: 'My Project' } })

  const again = await cli(['hook', 'install', '--svn', path, '--archive', 'My Project'])
  expect(again.stdout).toContain('announces to My Project')
  expect(await tokens()).toHaveLength(before.length + 1)

  const tried = await cli(['hook', 'test', '--svn', path])
  expect(tried.exitCode).toBe(0)
  expect(tried.stdout).toMatch(/asked who the token is; the server took it/)

  const removed = await cli(['hook', 'uninstall', '--svn', path, '--json'])
  expect(JSON.parse(removed.stdout)).toMatchObject({ archives: ['My Project'], unsent: 0, tokens_left: [] })
  expect((await server.ask('GET', '/v1/me', { token })).status).toBe(401)
})

test('who may not make tokens is told how to come by one, and brings it on standard input', async () => {
  const cli = commandLineOf(server)
  const { path } = await anSvnRepository()
  const viewer = (await cli(['token', 'create', 'looker', '--role', 'viewer'])).stdout.trim()
  const asViewer = { MILLRACE_URL: server.url, MILLRACE_TOKEN: viewer }
  const args = ['hook', 'install', '--svn', path, '--archive', 'Untold']
  const refused = await begin(args, { env: asViewer })
  expect(refused.exitCode).toBe(4)
  expect(refused.stderr).toContain('--limit archive:Untold')

  const own = (await cli(['token', 'create', 'hook', '--limit', 'archive:Untold'])).stdout
  const installed = await begin([...args, '--token-stdin', '--json'], { env: asViewer, stdin: own })
  expect(JSON.parse(installed.stdout)).toMatchObject({ reached: true })
  const nonsense = await begin([...args, '--token-stdin'], { env: asViewer, stdin: 'not a\ntoken "' })
  expect(nonsense.exitCode).toBe(2)
})

test('a hook is installed while the server is away, and that is said', async () => {
  const { path } = await anSvnRepository()
  const env = { MILLRACE_URL: 'http://127.0.0.1:1', MILLRACE_TOKEN: 'mr_any' }
  const args = ['hook', 'install', '--svn', path, '--archive', 'Book', '--token-stdin']
  const installed = await begin(args, { env, stdin: 'mr_given' })
  expect(installed.exitCode, installed.stderr).toBe(0)
  expect(installed.stderr).toContain('no server answered')
  const tried = await begin(['hook', 'test', '--svn', path], { env })
  expect(tried.exitCode).toBe(1)
})

test('what would be installed is printed, without a token and without changing anything', async () => {
  const { path } = await anSvnRepository()
  const env = { MILLRACE_URL: 'https://millrace.example.org/below' }
  const printed = await begin(['hook', 'print', '--svn', path, '--archive', "it's", '--json'], { env })
  const files = JSON.parse(printed.stdout) as { path: string; content: string }[]
  expect(files.map((file) => file.path.slice(path.length))).toEqual([
    '/hooks/post-commit',
    "/millrace/it's/settings",
    "/millrace/it's/notify",
  ])
  expect(files[1]?.content).toContain("base='https://millrace.example.org/below'\n")
  const absent = await begin(['hook', 'test', '--svn', path], { env })
  expect(absent.exitCode).toBe(3)
})

test('a command without a repository, with two, or without an archive is refused', async () => {
  const refusals = [['install'], ['install', '--svn', '/a', '--git', '/b'], ['install', '--svn', '/a'], ['test']]
  for (const args of refusals) expect((await begin(['hook', ...args])).exitCode, args.join(' ')).toBe(2)
  expect((await begin(['hook', 'install', '--svn', '/nonexistent', '--archive', 'a'])).exitCode).toBe(3)
})

test('the announcement of a real commit starts its workflow, and doctor looks at the hook', async () => {
  const cli = commandLineOf(server)
  const { path, url, commit } = await anSvnRepository()
  const body = { source: { type: 'svn', url: `${url}/trunk` }, from: 1 }
  await commit('trunk')
  expect((await server.ask('PUT', '/v1/archives/Book', { body })).status).toBe(201)
  await planned(server, 'Book', 1)
  const asked = { env: { HOME: path, MILLRACE_DATABASE_URL: server.database.databaseUrl } }
  const look = async () =>
    (JSON.parse((await cli(['doctor', '--json'], asked)).stdout) as Finding[]).find(({ check }) => check === 'hook')
  expect(await look()).toMatchObject({ state: 'warning', fix: expect.stringContaining('millrace hook install') })
  await cli(['hook', 'install', '--svn', path, '--archive', 'Book'])
  // Nobody looks at the repository for an hour unless the hook tells of it.
  await commit('trunk/_workflows')
  await planned(server, 'Book', 2)
  expect(await look()).toMatchObject({ state: 'good', evidence: expect.stringContaining(`Book: ${path} announces by`) })
  const tried = await cli(['hook', 'test', '--svn', path])
  expect(tried.stdout, tried.stderr).toMatch(/announced r2; the server took it/)
})

test('of a git repository the branch is announced that the server watches', async () => {
  const cli = commandLineOf(server)
  const path = join(await hookedGround(), 'book.git')
  const clone = `${path}-clone`
  await initBare(path)
  await git(dirname(path), 'clone', '--quiet', path, clone)
  const push = async (message: string) => {
    await git(clone, 'commit', '--quiet', '--allow-empty', '-m', message)
    await git(clone, 'push', '--quiet', 'origin', 'HEAD:refs/heads/stable')
  }
  await push('one')
  const body = { source: { type: 'git', url: path, branch: 'stable' }, from: 1 }
  expect((await server.ask('PUT', '/v1/archives/Pushed', { body })).status).toBe(201)
  await planned(server, 'Pushed', 1)
  const installed = await cli(['hook', 'install', '--git', path, '--archive', 'Pushed'])
  expect(installed.exitCode, installed.stderr).toBe(0)
  await push('two')
  await planned(server, 'Pushed', 2)
})
