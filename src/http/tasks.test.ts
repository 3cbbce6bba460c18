import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { aServer } from '../../test/server.ts'
import { connect, defineWorker } from '../engine/index.ts'

const worker = defineWorker({ kind: 'test.work', payload: z.object({ n: z.number() }), work: async () => 'done' })

async function aServerWithTask() {
  const server = await aServer()
  const millrace = await connect({ databaseUrl: server.database.databaseUrl })
  const first = await millrace.add(worker, { n: 1 }, { scope: 'archive:My-Project', key: '12:index', actor: 'someone' })
  const second = await millrace.add(worker, { n: 2 }, { requires: [first.id] })
  return {
    ...server,
    millrace,
    first,
    second,
    async [Symbol.asyncDispose]() {
      await millrace.close()
      await server[Symbol.asyncDispose]()
    },
  }
}

test('a task is shown with its neighbours and why it waits', async () => {
  await using server = await aServerWithTask()
  const { status, json } = await server.ask('GET', `/v1/tasks/${server.second.id}`)
  expect(status).toBe(200)
  expect(json).toMatchObject({
    id: server.second.id,
    state: 'waiting',
    culprits: [server.first.id],
    requirements: [{ id: server.first.id, is_met: false, when: 'succeeded' }],
  })
  expect(json.why).toContain('waits for')
})

test('a task is found by its natural key', async () => {
  await using server = await aServerWithTask()
  const byKey = await server.ask('GET', '/v1/tasks/My-Project@12:index')
  expect(byKey.json).toMatchObject({ id: server.first.id, created_by: 'someone' })
  const byScope = await server.ask('GET', `/v1/tasks/${encodeURIComponent('archive:My-Project/12:index')}`)
  expect(byScope.json).toMatchObject({ id: server.first.id })
})

test('the story of a task is told in order', async () => {
  await using server = await aServerWithTask()
  await server.ask('POST', `/v1/tasks/${server.first.id}/hold`, { body: { cause: 'not today' } })
  const { json } = await server.ask('GET', `/v1/tasks/${server.first.id}/events`)
  expect(json.items.at(-1)).toMatchObject({ name: 'held', to: 'held', cause: 'not today', actor: 'admin' })
})

test('an action that the state does not allow is refused with 409 and the reason', async () => {
  await using server = await aServerWithTask()
  const refused = await server.ask('POST', `/v1/tasks/${server.first.id}/release`)
  expect(refused.json).toMatchObject({ status: 409, code: 'state_refused' })
  expect(refused.json.detail).toContain('is ready and cannot be released')
})

test('canceling ends a task that has not started, and skips what needs it', async () => {
  await using server = await aServerWithTask()
  const canceled = await server.ask('POST', `/v1/tasks/${server.first.id}/cancel`)
  expect(canceled.json).toEqual({ id: server.first.id, state: 'canceled' })
  expect((await server.ask('GET', `/v1/tasks/${server.second.id}`)).json.state).toBe('skipped')
})

test('without a token nothing is shown', async () => {
  await using server = await aServerWithTask()
  for (const token of [null, 'wrong-token-altogether']) {
    const { json } = await server.ask('GET', `/v1/tasks/${server.first.id}`, { token })
    expect(json).toMatchObject({ status: 401, code: 'unauthorized' })
  }
})

test('a task that does not exist is a 404, whatever its name looks like', async () => {
  await using server = await aServerWithTask()
  for (const name of ['99999', 'nothing', '..%2f..%2fetc', 'a@1:b', '%00', '-1', '1e3', '9'.repeat(30)]) {
    const { json } = await server.ask('GET', `/v1/tasks/${name}`)
    expect([400, 404], name).toContain(json.status)
  }
})

test('an unknown field and an unknown parameter are named', async () => {
  await using server = await aServerWithTask()
  const field = await server.ask('POST', `/v1/tasks/${server.first.id}/hold`, { body: { reason: 'x' } })
  expect(field.json).toMatchObject({ code: 'invalid', errors: [{ pointer: '/body/reason' }] })
  const parameter = await server.ask('GET', `/v1/tasks/${server.first.id}?colour=red`)
  expect(parameter.json).toMatchObject({ code: 'invalid', errors: [{ pointer: '/query/colour' }] })
})

describe('the list of tasks', () => {
  test('is filtered and goes on from page to page', async () => {
    await using server = await aServerWithTask()
    const all = await server.ask('GET', '/v1/tasks')
    expect(all.json.items.map(({ id }: { id: string }) => id)).toEqual([server.second.id, server.first.id])
    const first = await server.ask('GET', '/v1/tasks?limit=1')
    const rest = await server.ask('GET', `/v1/tasks?limit=1&cursor=${first.json.next_cursor}`)
    expect(rest.json.items).toMatchObject([{ id: server.first.id, key: '12:index' }])
    for (const [query, ids] of [
      ['state=waiting', [server.second.id]],
      ['state=ready,failed', [server.first.id]],
      ['scope=archive:My-Project', [server.first.id]],
      ['scope=archive:*', [server.first.id]],
      ['kind=test.other', []],
      ['q=index', [server.first.id]],
      ['q=state:waiting', [server.second.id]],
    ] as const) {
      const { json } = await server.ask('GET', `/v1/tasks?${query}`)
      expect(
        json.items.map(({ id }: { id: string }) => id),
        query,
      ).toEqual(ids)
    }
  })

  test('refuses a search it does not understand and a cursor of another filter', async () => {
    await using server = await aServerWithTask()
    expect((await server.ask('GET', '/v1/tasks?q=colour:red')).json).toMatchObject({
      status: 400,
      code: 'invalid_query',
    })
    expect((await server.ask('GET', '/v1/tasks?state=blue')).json).toMatchObject({ status: 400, code: 'invalid' })
    const { json } = await server.ask('GET', '/v1/tasks?limit=1')
    const other = await server.ask('GET', `/v1/tasks?kind=x&cursor=${json.next_cursor}`)
    expect(other.json).toMatchObject({ status: 400, code: 'cursor_mismatch' })
  })

  test('is counted by state', async () => {
    await using server = await aServerWithTask()
    const { json } = await server.ask('GET', '/v1/task-counts')
    expect(json.states).toMatchObject({ waiting: { count: 1, is_exact: true }, ready: { count: 1 } })
  })
})

test('the list of workers names this server', async () => {
  await using server = await aServer()
  const { json } = await server.ask('GET', '/v1/workers')
  expect(json.items).toContainEqual(
    expect.objectContaining({ is_alive: true, kinds: expect.arrayContaining(['node']) }),
  )
})
