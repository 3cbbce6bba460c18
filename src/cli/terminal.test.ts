// A real terminal, as util-linux's `script` makes one.
import { spawn } from 'node:child_process'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { database } from '../../test/database.ts'
import { compiledFrom, follow } from '../../test/program.ts'
import { scratch } from '../../test/scratch.ts'
import { ADMIN } from '../../test/server.ts'
import { aTaskServer, type TaskServer } from '../../test/task-server.ts'

let server: TaskServer

beforeAll(async () => {
  server = await aTaskServer()
})
afterAll(() => server[Symbol.asyncDispose]())

async function aLog(): Promise<string> {
  const id = (await server.commandLine(['node', 'add', '-q', '--', 'printf', 'one\\ntwo\\n'])).stdout.trim()
  await server.commandLine(['node', 'wait', id])
  return JSON.parse((await server.commandLine(['node', 'get', id, '--json'])).stdout).metadata.task
}

function startInTerminal(args: readonly string[], env: Record<string, string> = {}) {
  const words = [process.execPath, compiledFrom('src/bin.ts'), ...args]
  const child = spawn('script', ['-qec', `stty cols 80 rows 24; ${words.join(' ')}`, '/dev/null'], {
    env: { PATH: process.env['PATH'], TERM: 'xterm', MILLRACE_URL: server.url, MILLRACE_TOKEN: ADMIN, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  return follow(child)
}

async function inTerminal(args: readonly string[], env: Record<string, string> = {}) {
  await using program = startInTerminal(args, env)
  const exitCode = await program.exitCode
  return { text: program.stdout().replaceAll('\r\n', '\n'), exitCode }
}

test('a log is shown by the pager of the person', async () => {
  const { text, exitCode } = await inTerminal(['logs', await aLog()], { PAGER: 'sed s/^/paged:/' })
  expect({ text, exitCode }).toEqual({ text: 'paged:one\npaged:two\n', exitCode: 0 })
})

test('a pager that is not there, or not wanted, does not keep the log away', async () => {
  const task = await aLog()
  expect((await inTerminal(['logs', task], { PAGER: 'no-such-pager' })).text).toMatch(/one\ntwo\n$/)
  expect((await inTerminal(['logs', task, '--no-pager'], { PAGER: 'sed s/^/paged:/' })).text).toBe('one\ntwo\n')
})

test('a terminal gets colours and its own width', async () => {
  const { text, exitCode } = await inTerminal(['why', await aLog()])
  expect(exitCode).toBe(0)
  expect(text).toContain('\u001b[32m✓ succeeded\u001b[39m')
})

test('the state of an archive is coloured in a list', async () => {
  const { status, text: refused } = await server.ask('PUT', '/v1/archives/Mills', {
    body: { source: { type: 'push' } },
  })
  expect(status, refused).toBe(201)
  const { text } = await inTerminal(['archive', 'ls'])
  expect(text).toContain('\u001b[32m● active')
})

test('a table fits a terminal of 80 columns, and is cut nowhere else', async () => {
  const [scope, key] = [`a-scope-${'s'.repeat(60)}`, 'a-key']
  const id = await server.add({ scope, key })
  const { text } = await inTerminal(['ls', '--scope', scope], { NO_COLOR: '1' })
  const bare = text.trimEnd().split('\n')
  expect(bare[1]).toMatch(new RegExp(`^${id} {2}.* a-scope-s+… `))
  for (const line of bare) expect(line.length).toBeLessThanOrEqual(80)
  expect((await server.commandLine(['ls', '--scope', scope])).stdout).toContain(`${scope}/${key}`)
})

test('a server on a terminal logs readable lines, and its address in a line alone', async () => {
  await using db = await database()
  await using data = await scratch()
  const env = { MILLRACE_DATABASE_URL: db.databaseUrl, MILLRACE_ADMIN_TOKEN: ADMIN, NO_COLOR: '1' }
  await using program = startInTerminal(['serve', '--port', '0', '--data', data.path], env)
  await program.line(/^millrace listening on http:\/\/127\.0\.0\.1:\d+\r?$/)
  expect(program.stdout()).toMatch(/^\d\d:\d\d:\d\d INFO {2}Server listening at http/m)
})
