import { createServer } from 'node:net'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { begin } from '../../test/command-line.ts'
import { database, emptyDatabase } from '../../test/database.ts'
import { scratch } from '../../test/scratch.ts'
import { ADMIN, useServer } from '../../test/server.ts'
import type { Finding } from './host.ts'

const server = useServer()

async function findings(env: Record<string, string>, args: string[] = []) {
  await using folder = await scratch()
  const asked = { env: { HOME: folder.path, MILLRACE_DATA: join(folder.path, 'data'), ...env } }
  const { exitCode, stdout } = await begin(['doctor', '--json', ...args], asked)
  const all = JSON.parse(stdout) as Finding[]
  return { exitCode, all, of: (check: string) => all.find((finding) => finding.check === check) }
}

const listening = () =>
  new Promise<{ port: number; close: () => void }>((resolve) => {
    const server = createServer((socket) => socket.end('not http\n'))
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number }
      resolve({ port, close: () => server.close() })
    })
  })

test('a machine with a server in order has nothing bad, and every finding says what was seen', async () => {
  const { databaseUrl } = server.database
  const env = { MILLRACE_DATABASE_URL: databaseUrl, MILLRACE_URL: server.url, MILLRACE_TOKEN: ADMIN }
  const { exitCode, all, of } = await findings(env)
  expect(exitCode).toBe(0)
  expect(all.filter(({ state }) => state === 'bad')).toEqual([])
  for (const finding of all) {
    expect(finding.evidence).not.toBe('')
    if (finding.state !== 'good') expect(finding.fix, finding.check).toEqual(expect.any(String))
  }
  for (const check of ['node', 'database', 'clock', 'schema', 'notifications', 'server', 'token']) {
    expect(of(check)?.state, check).toBe('good')
  }
  expect(of('token')?.evidence).toContain('admin, role admin')
})

test('a database that cannot be reached is bad, and does not hide the rest', async () => {
  const { exitCode, of } = await findings({ MILLRACE_DATABASE_URL: 'postgresql://nobody:hush@127.0.0.1:1/none' })
  expect(exitCode).toBe(1)
  expect(of('database')).toMatchObject({ state: 'bad', fix: expect.stringContaining('MILLRACE_DATABASE_URL') })
  expect(of('database')?.evidence).not.toContain('hush')
  expect(of('node')?.state).toBe('good')
})

test('an empty database is no fault: its schema is still to come', async () => {
  await using db = await emptyDatabase()
  const { of } = await findings({ MILLRACE_DATABASE_URL: db.databaseUrl })
  expect(of('schema')).toMatchObject({ state: 'warning', fix: expect.stringContaining('millrace migrate up') })
})

test('a role without rights on the tables is found', async () => {
  await using db = await database()
  const role = `powerless_${Date.now()}`
  await db.pool.query(`create role ${role} login; grant usage on schema millrace to ${role}`)
  await db.pool.query(`grant select on millrace.schema_version to ${role}`)
  try {
    const url = new URL(db.databaseUrl)
    url.username = role
    const { of } = await findings({ MILLRACE_DATABASE_URL: url.href })
    expect(of('schema')).toMatchObject({ state: 'bad', evidence: expect.stringContaining('lacks rights on') })
  } finally {
    await db.pool.query(`drop owned by ${role}; drop role ${role}`)
  }
})

test('without a database of its own it makes none to look at', async () => {
  const { exitCode, of } = await findings({ MILLRACE_PORT: '0' })
  expect(of('database')).toMatchObject({ state: 'good', evidence: expect.stringContaining('the first start makes') })
  expect(exitCode).toBe(0)
})

test('a port that something else holds is bad', async () => {
  const other = await listening()
  try {
    const { of } = await findings({ MILLRACE_PORT: String(other.port) })
    expect(of('port')).toMatchObject({ state: 'bad', fix: expect.stringContaining('--port') })
  } finally {
    other.close()
  }
})

test('a token that the server does not know is told with how to get one', async () => {
  const env = {
    MILLRACE_DATABASE_URL: server.database.databaseUrl,
    MILLRACE_URL: server.url,
    MILLRACE_TOKEN: 'wrong',
  }
  expect((await findings(env)).of('token')).toMatchObject({ state: 'warning', fix: expect.stringContaining('login') })
})
