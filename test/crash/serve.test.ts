import { existsSync, readFileSync, statSync } from 'node:fs'
import { readdir, rename } from 'node:fs/promises'
import { connect, createServer } from 'node:net'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { database, emptyDatabase } from '../database.ts'
import { isAlive, waitFor } from '../processes.ts'
import { type Program, runProgram } from '../program.ts'
import { scratch } from '../scratch.ts'
import { layCluster } from './cluster.ts'

const READY = /^millrace listening on /
const serve = (env: Record<string, string>) =>
  runProgram('src/bin.ts', { args: ['serve'], env: { MILLRACE_PORT: '0', MILLRACE_LOG_LEVEL: 'warn', ...env } })
const urlOf = async (program: Program) => (await program.line(READY)).replace(READY, '')

function postmasterOf(dataDir: string): number {
  return Number.parseInt(readFileSync(join(dataDir, 'postgres-18', 'postmaster.pid'), 'utf8'), 10)
}

describe('with the embedded database', () => {
  test('a first start serves, and SIGTERM stops everything with exit code 0', async () => {
    await using folder = await scratch()
    await using program = serve({ MILLRACE_DATA: folder.path })
    const url = await urlOf(program)
    expect(program.stdout()).toMatch(/^millrace listening on http:\/\/127\.0\.0\.1:\d+\n$/)
    expect(await (await fetch(`${url}/livez`)).text()).toBe('ok')
    expect((await fetch(`${url}/readyz`)).status).toBe(200)
    expect(statSync(join(folder.path, 'admin-token')).mode & 0o777).toBe(0o600)

    const server = postmasterOf(folder.path)
    program.child.kill('SIGTERM')
    expect(await program.exitCode).toBe(0)
    expect(isAlive(server)).toBe(false)
    expect(await readdir(folder.path)).not.toContain('postgres-18.lock')
  })

  test('a server that lost its database says so, and is ready again when it is back', async () => {
    await using folder = await scratch()
    layCluster(folder.path)
    await using program = serve({ MILLRACE_DATA: folder.path })
    const url = await urlOf(program)
    // It stays away until that was seen.
    const settings = join(folder.path, 'postgres-18', 'postgresql.conf')
    await rename(settings, `${settings}.aside`)
    process.kill(postmasterOf(folder.path), 'SIGKILL')
    const refusal = await waitFor(async () => {
      const answer = await fetch(`${url}/readyz`)
      return answer.status === 503 ? ((await answer.json()) as unknown) : undefined
    })
    expect(refusal).toMatchObject({ code: 'not_ready', status: 503 })
    expect(await (await fetch(`${url}/livez`)).text()).toBe('ok')
    await rename(`${settings}.aside`, settings)
    await waitFor(async () => ((await fetch(`${url}/readyz`)).status === 200 ? true : undefined))
  })

  test('a signal during the first start leaves nothing behind', async () => {
    await using folder = await scratch()
    await using program = serve({ MILLRACE_DATA: folder.path })
    await waitFor(() => readdir(folder.path).then((names) => names.find((name) => name.includes('.making-'))))
    program.child.kill('SIGTERM')
    expect(await program.exitCode).toBe(0)
    expect(program.stdout()).toBe('')
    expect(existsSync(join(folder.path, 'postgres-18', 'postmaster.pid'))).toBe(false)
  })

  test('a second server on the same data is refused in two lines', async () => {
    await using folder = await scratch()
    layCluster(folder.path)
    await using first = serve({ MILLRACE_DATA: folder.path })
    await urlOf(first)
    await using second = serve({ MILLRACE_DATA: folder.path })
    expect(await second.exitCode).toBe(1)
    expect(second.stderr().trim().split('\n')).toEqual([
      `millrace: the data directory ${folder.path} is in use by the process with pid ${first.pid}`,
      expect.stringMatching(/^to fix it: /),
    ])
  })
})

describe('with a server of somebody else', () => {
  test('the schema is brought up to date and no cluster is made', async () => {
    await using folder = await scratch()
    await using db = await emptyDatabase()
    await using program = serve({ MILLRACE_DATA: folder.path, DATABASE_URL: db.databaseUrl })
    const url = await urlOf(program)
    expect((await fetch(`${url}/readyz`)).status).toBe(200)
    expect((await readdir(folder.path)).sort()).toEqual(['admin-token', 'scratch'])
    program.child.kill('SIGINT')
    expect(await program.exitCode).toBe(0)
  })

  test('an older schema is refused when it must not be migrated', async () => {
    await using folder = await scratch()
    await using db = await emptyDatabase()
    const env = { MILLRACE_DATA: folder.path, MILLRACE_DATABASE_URL: db.databaseUrl, MILLRACE_MIGRATE: 'never' }
    await using program = serve(env)
    expect(await program.exitCode).toBe(1)
    expect(program.stderr()).toMatch(/has schema 0[^\n]*\nto fix it: run millrace migrate up/)
  })

  test.each(['auto', 'never'])('a newer schema is refused with what to do, migrating %s', async (when) => {
    await using folder = await scratch()
    await using db = await database()
    await db.pool.query('update millrace.schema_version set version = 9000')
    const env = { MILLRACE_DATA: folder.path, MILLRACE_DATABASE_URL: db.databaseUrl, MILLRACE_MIGRATE: when }
    await using program = serve(env)
    expect(await program.exitCode).toBe(1)
    expect(program.stderr()).toMatch(
      /^millrace: the database has schema 9000 and this release knows \d+: run the newer release, or restore [^\n]*\n$/,
    )
  })

  test('one that does not answer is named without its password', async () => {
    await using folder = await scratch()
    const url = 'postgresql://me:hush@127.0.0.1:1/db'
    await using program = serve({ MILLRACE_DATA: folder.path, MILLRACE_DATABASE_URL: url })
    expect(await program.exitCode).toBe(1)
    expect(program.stderr()).toMatch(/^millrace: the database at postgresql:\/\/me:\*\*\*@127\.0\.0\.1:1\/db cannot/)
    expect(program.stderr()).not.toMatch(/hush|\n\s+at /)
  })
})

describe('who may come in', () => {
  test('a host that others can reach is refused without a token', async () => {
    await using folder = await scratch()
    const data = join(folder.path, 'data')
    await using program = serve({ MILLRACE_DATA: data, MILLRACE_HOST: '0.0.0.0' })
    expect(await program.exitCode).toBe(1)
    expect(program.stderr()).toMatch(
      /^millrace: host 0\.0\.0\.0 can be reached[^\n]*\nto fix it: set MILLRACE_ADMIN_TOKEN/,
    )
    expect(existsSync(data)).toBe(false)
  })

  test('the printed link signs in once', async () => {
    await using folder = await scratch()
    await using db = await database()
    await using program = serve({ MILLRACE_DATA: folder.path, MILLRACE_DATABASE_URL: db.databaseUrl })
    const url = await urlOf(program)
    const link = await waitFor(() => /^sign in once at (\S+)$/m.exec(program.stderr())?.[1])
    expect(link.startsWith(`${url}/sign-in#`)).toBe(true)
    const signIn = () =>
      fetch(`${url}/v1/sign-in`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ secret: link.split('#')[1] }),
      })
    expect((await signIn()).headers.get('set-cookie')).toMatch(/^millrace_session_\d+=\S+; .*HttpOnly; SameSite=Strict/)
    expect(await (await signIn()).json()).toMatchObject({ code: 'sign_in_refused', status: 401 })
  })
})

test('a second signal ends a stop that waits for a request', async () => {
  await using folder = await scratch()
  await using db = await database()
  await using program = serve({ MILLRACE_DATA: folder.path, MILLRACE_DATABASE_URL: db.databaseUrl })
  const url = await urlOf(program)
  // A request whose body never comes.
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  socket.on('error', () => {})
  socket.write('POST /v1/sign-in HTTP/1.1\r\nhost: here\r\ncontent-type: application/json\r\ncontent-length: 9\r\n\r\n')
  await fetch(`${url}/livez`)
  program.child.kill('SIGTERM')
  await waitFor(() => fetch(`${url}/readyz`).then(({ status }) => (status === 503 ? true : undefined)))
  expect(program.child.exitCode).toBeNull()
  program.child.kill('SIGTERM')
  expect(await program.exitCode).toBeNull()
  expect(program.child.signalCode).toBe('SIGTERM')
  socket.destroy()
})

test('a port in use is named', async () => {
  await using folder = await scratch()
  await using db = await database()
  const other = createServer()
  const port = await new Promise<number>((resolve) => {
    other.listen(0, '127.0.0.1', () => resolve((other.address() as { port: number }).port))
  })
  try {
    const env = { MILLRACE_DATA: folder.path, MILLRACE_DATABASE_URL: db.databaseUrl, MILLRACE_PORT: String(port) }
    await using program = serve(env)
    expect(await program.exitCode).toBe(1)
    expect(program.stderr()).toContain(`millrace: port ${port} on 127.0.0.1 is in use by another process\nto fix it: `)
  } finally {
    other.close()
  }
})

test('a wrong setting is named with its source', async () => {
  await using folder = await scratch()
  await using program = serve({ MILLRACE_DATA: folder.path, MILLRACE_PORT: 'seven' })
  expect(await program.exitCode).toBe(2)
  expect(program.stderr()).toContain('millrace: port is "seven" (from MILLRACE_PORT)')
})
