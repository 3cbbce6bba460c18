import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { listenTo } from '../../test/events.ts'
import { aServer } from '../../test/server.ts'
import { connect, defineWorker, publish } from '../engine/index.ts'

const worker = defineWorker({ kind: 'test.work', payload: z.object({}), work: async () => 'done' })

async function aServerWithEngine(settings: Parameters<typeof aServer>[0] = {}) {
  const server = await aServer(settings)
  const millrace = await connect({ databaseUrl: server.database.databaseUrl })
  onTestFinished(async () => {
    await millrace.close()
    await server[Symbol.asyncDispose]()
  })
  return { ...server, millrace, stream: `${server.url}/v1/events` }
}

test('every change of a task is told in order', async () => {
  const server = await aServerWithEngine()
  const listening = await listenTo(server.stream)
  expect(listening.response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
  const hello = await listening.until(({ event }) => event === 'hello')
  expect(hello.id).toBe(hello.json.position)
  const dispatcher = server.millrace.dispatch([worker])
  const { id } = await server.millrace.add(worker, {}, { scope: 'node', key: 'k', actor: 'someone' })
  await listening.until(({ json }) => json.name === 'succeeded')
  await dispatcher.stop()
  const events = listening.events()
  expect(events.map(({ name }) => name)).toEqual(['created', 'readied', 'claimed', 'succeeded'])
  expect(events[0]).toMatchObject({
    task: id,
    scope: 'node',
    key: 'k',
    kind: 'test.work',
    from: null,
    to: 'waiting',
    actor: 'someone',
  })
  const ids = listening.told.map((told) => BigInt(told.id ?? '0'))
  expect(ids).toEqual(ids.toSorted((a, b) => (a < b ? -1 : 1)))
  expect(new Set(ids).size).toBe(ids.length)
  await sleep(0)
})
