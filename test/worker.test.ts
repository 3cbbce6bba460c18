import { expect, test } from 'vitest'
import { begin, commandLineOf } from './command-line.ts'
import { runProgram } from './program.ts'
import { scratch } from './scratch.ts'
import { aServer, type TestServer } from './server.ts'

test('a worker on the same database performs what the server does not, and stops when told to', async () => {
  await using data = await scratch()
  await using server = await aServer()
  const run = commandLineOf(server)
  // The server has places for eight.
  const busy = await Promise.all(Array.from({ length: 8 }, () => run(['node', 'add', '-q', '--', 'sleep', '3600'])))
  const busyIds = busy.map(({ stdout }) => stdout.trim())
  await run(['node', 'wait', ...busyIds, '--for', 'running'])
  const id = (await run(['node', 'add', '-q', '--shell', 'echo "$MILLRACE_URL"'])).stdout.trim()

  await using worker = runProgram('src/bin.ts', {
    args: ['worker', '--json'],
    env: {
      MILLRACE_DATABASE_URL: server.database.databaseUrl,
      MILLRACE_LOG_LEVEL: 'warn',
      MILLRACE_DATA: data.path,
    },
  })
  const { name, kinds } = JSON.parse(await worker.line(/^\{/)) as { name: string; kinds: string[] }
  expect(kinds).toContain('node')
  expect((await run(['node', 'wait', id, '--timeout', '90s'])).exitCode).toBe(0)
  expect((await run(['node', 'get', id, 'stdout'])).stdout).toBe(`${server.url}\n`)
  const task = JSON.parse((await run(['node', 'get', id, '--json'])).stdout).metadata.task
  const { attempts } = JSON.parse((await run(['show', task, '--json'])).stdout)
  expect(attempts[0].worker).toBe(name)

  worker.child.kill('SIGTERM')
  expect(await worker.exitCode).toBe(0)
  await run(['node', 'kill', ...busyIds, '--yes'])
  await run(['node', 'wait', ...busyIds])
})

test('a worker tells its tasks where the server is, also after it was moved; drained, it ends when it has nothing left', async () => {
  await using data = await scratch()
  await using server = await aServer({ queues: 'none' })
  const run = commandLineOf(server)
  const urlOfTask = async (at: TestServer) => {
    const id = (await commandLineOf(at)(['node', 'add', '-q', '--shell', 'echo "$MILLRACE_URL"'])).stdout.trim()
    await commandLineOf(at)(['node', 'wait', id, '--timeout', '90s'])
    return (await commandLineOf(at)(['node', 'get', id, 'stdout'])).stdout.trim()
  }
  await using worker = runProgram('src/bin.ts', {
    args: ['worker', '--json'],
    env: {
      MILLRACE_DATABASE_URL: server.database.databaseUrl,
      MILLRACE_LOG_LEVEL: 'warn',
      MILLRACE_DATA: data.path,
    },
  })
  const { name } = JSON.parse(await worker.line(/^\{/)) as { name: string }
  const listed = JSON.parse((await run(['worker', 'ls', '--json'])).stdout) as {
    id: number
    name: string
    kinds: string[]
  }[]
  expect(await urlOfTask(server)).toBe(server.url)
  await using moved = await aServer({ on: server.database, queues: 'none' })
  expect(await urlOfTask(moved)).toBe(moved.url)
  const own = listed.find((one) => one.name === name && one.kinds.includes('node'))
  expect((await run(['worker', 'drain', String(own?.id)])).exitCode).toBe(0)
  expect(await worker.exitCode).toBe(0)
})

test('a worker without a database is refused with what to do', async () => {
  const { exitCode, stderr } = await begin(['worker'])
  expect(exitCode).toBe(1)
  expect(stderr).toContain('MILLRACE_DATABASE_URL')
})

test('a worker that cannot name the server to its tasks is refused with what to set', async () => {
  await using server = await aServer({ queues: 'none' })
  const env = { MILLRACE_DATABASE_URL: server.database.databaseUrl }
  // As if its server ran on another machine: a loopback address leads nowhere from here.
  await server.database.pool.query(`update millrace.server_address set host = 'elsewhere'`)
  const far = await begin(['worker'], { env })
  expect(far.exitCode).toBe(1)
  expect(far.stderr).toContain('the server on elsewhere listens at http://127.0.0.1:')
  expect(far.stderr).toContain('set MILLRACE_URL (or --server) to the address of the server')
  await server.stop()
  const { rows } = await server.database.pool.query('select 1 from millrace.server_address')
  expect(rows).toEqual([])
  expect((await begin(['worker'], { env })).stderr).toContain('no server of this database has published its address')
})
