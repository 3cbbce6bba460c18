import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Asked, begin } from '../../test/command-line.ts'
import { database, type TestDatabase } from '../../test/database.ts'
import { ADMIN, aServer } from '../../test/server.ts'
import { aGraph, type TaskGraph } from '../../test/task-server.ts'

let db: TestDatabase
let graph: TaskGraph

beforeAll(async () => {
  db = await database()
  graph = await aGraph(db.databaseUrl)
})
afterAll(async () => {
  await graph.close()
  await db[Symbol.asyncDispose]()
})

/** A server, and another one in its place on the same port. */
async function aServerToRestart() {
  const first = await aServer({ on: db })
  const { port } = new URL(first.url)
  return {
    run: (args: string[], asked: Asked = {}) =>
      begin(args, { ...asked, env: { MILLRACE_URL: first.url, MILLRACE_TOKEN: ADMIN } }),
    stop: () => first.stop(),
    startAgain: () => aServer({ on: db, port: Number(port) }),
  }
}

test('events go on after a restart of the server, none lost and none twice', async () => {
  const server = await aServerToRestart()
  const following = server.run([
    'events',
    '-f',
    '--ndjson',
    '--scope',
    'restart',
    '--topics',
    'created',
    '--after',
    'oldest',
  ])
  const before = await graph.add({ scope: 'restart' })
  await following.says(new RegExp(`"task":"${before}"`))
  await server.stop()
  await following.says(/the connection broke; trying again/)
  const meanwhile = await graph.add({ scope: 'restart' })
  await using _ = await server.startAgain()
  await following.says(new RegExp(`"task":"${meanwhile}"`))
  const after = await graph.add({ scope: 'restart' })
  await following.says(new RegExp(`"task":"${after}"`))
  following.interrupt()
  const { stdout, exitCode } = await following
  expect(exitCode).toBe(130)
  const seen = stdout
    .trimEnd()
    .split('\n')
    .map((line) => (JSON.parse(line) as { task: string }).task)
  expect(seen).toEqual([before, meanwhile, after])
})

test('waiting survives a restart of the server', async () => {
  const server = await aServerToRestart()
  const id = await graph.add()
  const waiting = server.run(['wait', id], { terminal: { columns: 80, rows: 24 } })
  const watching = server.run(['watch', id, '--ndjson'])
  // Both have reached it: one that never did gives up.
  await waiting.says(/waiting for 1/)
  await watching.says(/"state":"ready"/)
  await server.stop()
  await waiting.says(/trying again/)
  await graph.perform()
  await using _ = await server.startAgain()
  expect((await waiting).exitCode).toBe(0)
  expect((await watching).exitCode).toBe(0)
})

test('a server that was never there is not waited for', async () => {
  const { exitCode } = await begin(['wait', '1'], { env: { MILLRACE_URL: 'http://127.0.0.1:1' } })
  expect(exitCode).toBe(6)
})
