import { chmod, mkdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Asked, begin } from '../../test/command-line.ts'
import { scratch } from '../../test/scratch.ts'
import { ADMIN } from '../../test/server.ts'
import { aTaskServer, type TaskServer } from '../../test/task-server.ts'

let server: TaskServer

beforeAll(async () => {
  server = await aTaskServer()
})
afterAll(() => server[Symbol.asyncDispose]())

const asAdmin: TaskServer['commandLine'] = (...asked) => server.commandLine(...asked)

/** A person with a folder for settings of their own, and nothing in the environment. */
async function aPerson() {
  const home = await scratch()
  const env = { HOME: home.path }
  return {
    file: join(home.path, '.config', 'millrace', 'contexts.json'),
    run: (args: string[], more: Asked = {}) => begin(args, { ...more, env: { ...env, ...more.env } }),
  }
}

describe('login', () => {
  test('keeps a token that the server takes, for its owner alone, and commands use it from then on', async () => {
    const { run, file } = await aPerson()
    const id = await server.add()
    const before = await run(['why', id, '--server', server.url])
    expect(before.exitCode).toBe(4)
    const { exitCode, stdout } = await run(['login', '--server', server.url, '--name', 'here'], { stdin: `${ADMIN}\n` })
    expect(exitCode).toBe(0)
    expect(stdout).toContain('as admin (role admin)')
    expect((await stat(file)).mode & 0o777).toBe(0o600)
    expect((await run(['why', id])).exitCode).toBe(0)
    expect((await run(['status', '--json=url_from'])).exitCode).not.toBe(4)
  })

  test('says where the token is found before it asks for it', async () => {
    const { run } = await aPerson()
    const terminal = { columns: 100, rows: 30 }
    const { stderr } = await run(['login', '--server', server.url], { terminal, stdin: '\n' })
    expect(stderr).toMatch(/^the administrator's token is in the file `admin-token` .*\ntoken for http/)
    expect(stderr).toContain('to fix it: sign in with `millrace login --token-file <data>/admin-token`')
  })

  test('says of an empty file that it is empty', async () => {
    const { run } = await aPerson()
    await using folder = await scratch()
    const token = join(folder.path, 'token')
    await writeFile(token, '\n')
    const { exitCode, stderr } = await run(['login', '--server', server.url, '--token-file', token])
    expect(exitCode).toBe(2)
    expect(stderr).toContain(`token: the file of flag --token-file is empty: ${token}\n`)
  })

  test('keeps nothing that the server does not take', async () => {
    const { run, file } = await aPerson()
    expect((await run(['login', '--server', server.url], { stdin: 'wrong\n' })).exitCode).toBe(4)
    await expect(readFile(file)).rejects.toThrow('ENOENT')
  })

  test('takes the token of a file, and never one on the command line', async () => {
    const { run } = await aPerson()
    await using folder = await scratch()
    const token = join(folder.path, 'token')
    await writeFile(token, `${ADMIN}\n`)
    expect((await run(['login', '--server', server.url, '--token-file', token])).exitCode).toBe(0)
    expect((await run(['login', '--token', ADMIN])).exitCode).toBe(2)
  })

  test('a logout forgets the token', async () => {
    const { run, file } = await aPerson()
    await run(['login', '--server', server.url], { stdin: ADMIN })
    expect(await readFile(file, 'utf8')).toContain(ADMIN)
    expect((await run(['logout'])).exitCode).toBe(0)
    expect(await readFile(file, 'utf8')).not.toContain(ADMIN)
  })
})

describe('without a token that the server takes', () => {
  test('a command says how to sign in, and not what to send', async () => {
    const { run } = await aPerson()
    const { exitCode, stderr } = await run(['ls', '--server', server.url])
    expect(exitCode).toBe(4)
    expect(stderr).toMatch(/^to fix it: sign in with `millrace login --token-file .*MILLRACE_TOKEN/m)
    expect(stderr).not.toContain('Authorization')
  })

  test('the status still says which server and which token are in use', async () => {
    const { run } = await aPerson()
    const none = await run(['status', '--server', server.url])
    expect(none).toMatchObject({
      exitCode: 4,
      stdout: `server   ${server.url}  by flag --server\ntoken    none\n`,
      stderr: expect.stringContaining('(unauthorized)'),
    })
    const wrong = await run(['status', '--server', server.url], { env: { MILLRACE_TOKEN: 'wrong' } })
    expect(wrong.stdout).toContain('token    by MILLRACE_TOKEN\n')
    expect((await run(['status', '--server', server.url, '--json'])).stdout).toBe('')
  })
})

describe('contexts', () => {
  test('are added, listed without their tokens, and chosen', async () => {
    const { run } = await aPerson()
    await run(['login', '--server', server.url, '--name', 'here'], { stdin: ADMIN })
    await run(['context', 'add', 'there', 'https://there.example/'])
    const { stdout } = await run(['context', 'ls', '--json'])
    expect(stdout).not.toContain(ADMIN)
    expect(JSON.parse(stdout)).toEqual([
      { name: 'here', url: server.url, current: true, signed_in: true },
      { name: 'there', url: 'https://there.example', current: false, signed_in: false },
    ])
    expect((await run(['context', 'use', 'there'])).exitCode).toBe(0)
    expect((await run(['context', 'ls', '--plain'])).stdout).toContain('true\tthere\t')
    const unknown = await run(['context', 'use', 'elsewhere'])
    expect(unknown.exitCode).toBe(3)
    expect(unknown.stderr).toContain('choose from here, there')
  })

  test('that others could read are refused', async () => {
    const { run, file } = await aPerson()
    await mkdir(join(file, '..'), { recursive: true })
    await writeFile(file, '{"contexts":{}}')
    await chmod(file, 0o644)
    const { exitCode, stderr } = await run(['context', 'ls'])
    expect(exitCode).toBe(1)
    expect(stderr).toContain('chmod 600')
  })
})

describe('tokens', () => {
  test('are made with their secret on standard output alone, used, listed and revoked', async () => {
    const made = await asAdmin(['token', 'create', 'ci', '--role', 'viewer', '--expires', '1h'])
    const secret = made.stdout.trim()
    expect(secret).toMatch(/^mr\w*_/)
    expect(made.stderr).not.toContain(secret)
    const asViewer = { env: { MILLRACE_TOKEN: secret } }
    const id = await server.add()
    expect((await asAdmin(['why', id], asViewer)).exitCode).toBe(0)
    const refused = await asAdmin(['hold', id], asViewer)
    expect(refused.exitCode).toBe(4)
    expect(refused.stderr).toContain('(forbidden)')

    const listed = await asAdmin(['token', 'ls', '--json=id,name,role'])
    const [token] = JSON.parse(listed.stdout) as { id: string }[]
    expect(token).toMatchObject({ name: 'ci', role: 'viewer' })
    expect((await asAdmin(['token', 'revoke', token?.id ?? '', '--yes'])).exitCode).toBe(0)
    expect((await asAdmin(['why', id], asViewer)).exitCode).toBe(4)
    expect((await asAdmin(['token', 'ls', '-q'])).stdout).toBe('')
    expect((await asAdmin(['token', 'ls', '--all', '-q'])).stdout).toBe(`${token?.id}\n`)
  })

  test('need a role or a limit', async () => {
    expect((await asAdmin(['token', 'create', 'x'])).exitCode).toBe(2)
    expect((await asAdmin(['token', 'create', 'x', '--limit', 'everything'])).exitCode).toBe(2)
    const limited = await asAdmin(['token', 'create', 'hook', '--limit', 'archive:My-Project', '--json=role,limit'])
    expect(JSON.parse(limited.stdout)).toEqual({ role: null, limit: { to: 'archive', name: 'My-Project' } })
  })
})

describe('api', () => {
  test('sends a request with the token and prints the answer as it came', async () => {
    const id = await server.add()
    const { bytes } = await asAdmin(['api', 'GET', `/v1/tasks/${id}/why`])
    expect(JSON.parse(bytes.toString())).toMatchObject({ id, state: 'ready' })
    const held = await asAdmin(['api', 'post', `/v1/tasks/${id}/hold`, '--body', '-'], { stdin: '{"cause":"x"}' })
    expect(JSON.parse(held.stdout)).toEqual({ id, state: 'held' })
  })

  test('ends with the exit code of the refusal', async () => {
    expect((await asAdmin(['api', 'GET', '/v1/nothing'])).exitCode).toBe(3)
  })

  test('cannot be made to send the token to another host', async () => {
    for (const path of ['@evil.example/', 'https://evil.example/', ':80@evil.example/', 'v1/tasks']) {
      const { exitCode, stderr } = await asAdmin(['api', 'GET', path])
      expect({ exitCode, stderr }).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('begin with /') })
    }
  })
})
