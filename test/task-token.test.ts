import { expect, test } from 'vitest'
import { z } from 'zod'
import { createTaskTokens, signingKey } from '../src/access/task-token.ts'
import { connect, defineWorker } from '../src/engine/index.ts'
import { aServer } from './server.ts'

test('a running task may look at itself with its own token, and at nothing else, until it ends', async () => {
  await using server = await aServer()
  const millrace = await connect({ databaseUrl: server.database.databaseUrl })
  let finish = () => {}
  const isFinished = new Promise<void>((resolve) => {
    finish = resolve
  })
  let begin = () => {}
  const isBegun = new Promise<void>((resolve) => {
    begin = resolve
  })
  const worker = defineWorker({
    kind: 'test.hold',
    payload: z.unknown(),
    async work() {
      begin()
      await isFinished
    },
  })
  const dispatcher = millrace.dispatch([worker])
  const mine = await millrace.add(worker, {})
  const other = await millrace.addMilestone()
  await isBegun
  // Any server of the database signs with the same key.
  const tokens = createTaskTokens(await signingKey(server.database.pool), async () => true)
  const issue = (name: string, attempt: string) =>
    tokens.issue({ limit: { to: 'task', name }, attempt, ttlSeconds: 3600 })
  const token = issue(mine.id, String((await millrace.attempts(mine.id)).at(-1)?.epoch))

  expect((await server.ask('GET', '/v1/me', { token })).json).toMatchObject({ name: `task:${mine.id}`, role: null })
  expect((await server.ask('GET', `/v1/tasks/${mine.id}`, { token })).json).toMatchObject({ state: 'running' })
  expect((await server.ask('GET', `/v1/tasks/${other.id}`, { token })).json).toMatchObject({ code: 'forbidden' })
  expect((await server.ask('POST', `/v1/tasks/${mine.id}/cancel`, { token })).json).toMatchObject({ code: 'forbidden' })
  for (const wrong of [issue(mine.id, '99'), issue(other.id, '1'), issue('424242', '1')]) {
    expect((await server.ask('GET', '/v1/me', { token: wrong })).json).toMatchObject({ code: 'unauthorized' })
  }

  finish()
  await expect.poll(async () => (await millrace.task(mine.id)).state).toBe('succeeded')
  expect((await server.ask('GET', '/v1/me', { token })).json).toMatchObject({ code: 'unauthorized' })
  await dispatcher.stop()
  await millrace.close()
})
