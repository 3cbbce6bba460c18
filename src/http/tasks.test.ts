import { beforeAll, describe, expect, test } from 'vitest'
import { type TaskServer, useTaskServer } from '../../test/task-server.ts'

let count = 0

/** A task with a key of its own, and one that waits for it. */
async function twoTasks(server: TaskServer) {
  count += 1
  const key = `${count}:index`
  const first = await server.add({ scope: 'archive:My-Project', key, actor: 'someone' })
  const second = await server.add({ requires: [first] })
  return { first, second, key }
}

const server = useTaskServer()

test('a task is shown with its neighbours and why it waits', async () => {
  const { first, second } = await twoTasks(server)
  const { status, json } = await server.ask('GET', `/v1/tasks/${second}`)
  expect(status).toBe(200)
  expect(json).toMatchObject({
    id: second,
    state: 'waiting',
    culprits: [first],
    requirements: [{ id: first, is_met: false, when: 'succeeded' }],
  })
  expect(json.why).toContain('waits for')
})

test('a task is found by its natural key', async () => {
  const { first, key } = await twoTasks(server)
  const byKey = await server.ask('GET', `/v1/tasks/My-Project@${key}`)
  expect(byKey.json).toMatchObject({ id: first, created_by: 'someone' })
  const byScope = await server.ask('GET', `/v1/tasks/${encodeURIComponent(`archive:My-Project/${key}`)}`)
  expect(byScope.json).toMatchObject({ id: first })
})

test('the story of a task is told in order', async () => {
  const { first } = await twoTasks(server)
  await server.ask('POST', `/v1/tasks/${first}/hold`, { body: { cause: 'not today' } })
  const { json } = await server.ask('GET', `/v1/tasks/${first}/events`)
  expect(json.items.at(-1)).toMatchObject({ name: 'held', to: 'held', cause: 'not today', actor: 'admin' })
})

test('an action that the state does not allow is refused with 409 and the reason', async () => {
  const { first } = await twoTasks(server)
  const refused = await server.ask('POST', `/v1/tasks/${first}/release`)
  expect(refused.json).toMatchObject({ status: 409, code: 'state_refused' })
  expect(refused.json.detail).toContain('is ready and cannot be released')
})

test('canceling ends a task that has not started, and skips what needs it', async () => {
  const { first, second } = await twoTasks(server)
  const canceled = await server.ask('POST', `/v1/tasks/${first}/cancel`)
  expect(canceled.json).toEqual({ id: first, state: 'canceled' })
  expect((await server.ask('GET', `/v1/tasks/${second}`)).json.state).toBe('skipped')
})

test('without a token nothing is shown', async () => {
  const { first } = await twoTasks(server)
  for (const token of [null, 'wrong-token-altogether']) {
    const { json } = await server.ask('GET', `/v1/tasks/${first}`, { token })
    expect(json).toMatchObject({ status: 401, code: 'unauthorized' })
  }
})

test('a task that does not exist is a 404, whatever its name looks like', async () => {
  for (const name of ['99999', 'nothing', '..%2f..%2fetc', 'a@1:b', '%00', '-1', '1e3', '9'.repeat(30)]) {
    const { json } = await server.ask('GET', `/v1/tasks/${name}`)
    expect([400, 404], name).toContain(json.status)
  }
})

test('an unknown field and an unknown parameter are named', async () => {
  const { first } = await twoTasks(server)
  const field = await server.ask('POST', `/v1/tasks/${first}/hold`, { body: { reason: 'x' } })
  expect(field.json).toMatchObject({ code: 'invalid', errors: [{ pointer: '/body/reason' }] })
  const parameter = await server.ask('GET', `/v1/tasks/${first}?colour=red`)
  expect(parameter.json).toMatchObject({ code: 'invalid', errors: [{ pointer: '/query/colour' }] })
})

describe('the list of tasks', () => {
  const server = useTaskServer()
  let made: Awaited<ReturnType<typeof twoTasks>>
  beforeAll(async () => {
    made = await twoTasks(server)
  })

  test('is filtered and goes on from page to page', async () => {
    const { first, second, key } = made
    const all = await server.ask('GET', '/v1/tasks')
    expect(all.json.items.map(({ id }: { id: string }) => id)).toEqual([second, first])
    const page = await server.ask('GET', '/v1/tasks?limit=1')
    const rest = await server.ask('GET', `/v1/tasks?limit=1&cursor=${page.json.next_cursor}`)
    expect(rest.json.items).toMatchObject([{ id: first, key }])
    for (const [query, ids] of [
      ['state=waiting', [second]],
      ['state=ready,failed', [first]],
      ['scope=archive:My-Project', [first]],
      ['scope=archive:*', [first]],
      ['kind=test.other', []],
      ['q=index', [first]],
      ['q=state:waiting', [second]],
    ] as const) {
      const { json } = await server.ask('GET', `/v1/tasks?${query}`)
      expect(
        json.items.map(({ id }: { id: string }) => id),
        query,
      ).toEqual(ids)
    }
  })

  test('refuses a search it does not understand and a cursor of another filter', async () => {
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
    const { json } = await server.ask('GET', '/v1/task-counts')
    expect(json.states).toMatchObject({ waiting: { count: 1, is_exact: true }, ready: { count: 1 } })
  })
})

test('the list of workers names this server', async () => {
  const { json } = await server.ask('GET', '/v1/workers')
  expect(json.items).toContainEqual(
    expect.objectContaining({ is_alive: true, kinds: expect.arrayContaining(['node']) }),
  )
})
