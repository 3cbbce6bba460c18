import { beforeEach, expect, test } from 'vitest'
import { z } from 'zod'
import { anApp } from '../../test/app.ts'
import { type TestServer, useServer } from '../../test/server.ts'
import { route } from '../api/index.ts'
import { addRoute } from './add-route.ts'

const server = useServer()
beforeEach(() => server.database.pool.query('delete from millrace.audit'))

const entries = async (server: Pick<TestServer, 'ask'>, query = '') =>
  (await server.ask('GET', `/v1/audit${query}`)).json.items

test('who did what is recorded, with its outcome', async () => {
  await server.ask('POST', '/v1/tasks/99/cancel', {
    headers: { 'x-request-id': 'my-request' },
    body: { cause: 'private' },
  })
  await server.ask('GET', '/v1/tasks/99')
  const [entry, ...others] = await entries(server)
  expect(others).toEqual([])
  expect(entry).toMatchObject({
    actor: 'admin',
    via: 'token',
    action: 'tasks.cancel',
    subject: { id: '99' },
    request_id: 'my-request',
    status: 404,
  })
  expect(JSON.stringify(entry)).not.toContain('private')
})

test('what was refused for lack of a role is recorded, what nobody sent is not', async () => {
  const { json } = await server.ask('POST', '/v1/tokens', { body: { name: 'reader', role: 'viewer' } })
  await server.ask('POST', '/v1/tasks/1/cancel', { token: json.secret })
  await server.ask('POST', '/v1/tasks/1/cancel', { token: null })
  await server.ask('POST', '/v1/tasks/1/cancel', { token: 'mr_wrong' })
  expect(await entries(server)).toMatchObject([
    { actor: 'token:reader', action: 'tasks.cancel', status: 403 },
    { actor: 'admin', action: 'tokens.create', status: 201 },
  ])
})

test('signing in is recorded', async () => {
  const { json } = await server.ask('POST', '/v1/sign-in-links', { body: { name: 'ada' } })
  await server.ask('POST', '/v1/sign-in', { token: null, body: { secret: json.url.split('#')[1] } })
  expect(await entries(server)).toMatchObject([
    { actor: 'user:ada', via: 'session', action: 'session.sign_in', status: 204 },
    { actor: 'admin', action: 'session.link', status: 201 },
  ])
})

test('a body that cannot be read is recorded as what it was', async () => {
  await server.ask('POST', '/v1/tokens', { body: '{' })
  await server.ask('POST', '/v1/tokens', { body: {} })
  expect(await entries(server)).toMatchObject([{ status: 400 }, { status: 400 }])
})

const act = route({
  method: 'POST',
  path: '/v1/test/{name}',
  name: 'test.act',
  summary: 'Test',
  access: { role: 'viewer' },
  params: z.strictObject({ name: z.string() }),
  answers: { 200: z.object({ seen: z.unknown() }) },
})

test('the row is there before the effect, without a status', async () => {
  await using app = await anApp({
    resources: [
      (server) =>
        addRoute(server, act, ({ once }) =>
          once(async (tx) => ({ seen: (await tx.query('select action, status from millrace.audit')).rows })),
        ),
    ],
  })
  const { json } = await app.ask('POST', '/v1/test/x')
  expect(json.seen).toEqual([{ action: 'test.act', status: null }])
  expect(await entries(app)).toMatchObject([{ action: 'test.act', status: 200 }])
})

test('what cannot be recorded does not happen', async () => {
  let isDone = false
  await using app = await anApp({
    resources: [
      (server) =>
        addRoute(server, act, async () => {
          isDone = true
          return { seen: null }
        }),
    ],
  })
  await app.database.pool.query('alter table millrace.audit rename to hidden')
  expect((await app.ask('POST', '/v1/test/x')).status).toBe(500)
  await app.database.pool.query('alter table millrace.hidden rename to audit')
  expect(isDone).toBe(false)
})

test('an answer that the caller did not wait for is recorded all the same', async () => {
  let finish = () => {}
  let begun = () => {}
  const isBegun = new Promise<void>((resolve) => {
    begun = resolve
  })
  await using app = await anApp({
    resources: [
      (server) =>
        addRoute(server, act, async ({ signal }) => {
          begun()
          await new Promise<void>((resolve) => {
            finish = resolve
            signal.addEventListener('abort', () => resolve())
          })
          return { seen: null }
        }),
    ],
  })
  const caller = new AbortController()
  const asked = app.ask('POST', '/v1/test/x', { signal: caller.signal })
  await isBegun
  caller.abort()
  await expect(asked).rejects.toThrow()
  finish()
  await expect.poll(() => entries(app)).toMatchObject([{ action: 'test.act', status: 200 }])
})

test('many at once are all recorded', async () => {
  await using app = await anApp({ resources: [(server) => addRoute(server, act, async () => ({ seen: null }))] })
  const names = Array.from({ length: 100 }, (_, i) => String(i))
  await Promise.all(names.map((name) => app.ask('POST', `/v1/test/${name}`)))
  const recorded = await entries(app, '?limit=500')
  expect(new Set(recorded.map((entry: { subject: { name: string } }) => entry.subject.name))).toEqual(new Set(names))
  expect(recorded.every((entry: { status: number }) => entry.status === 200)).toBe(true)
})

test('a subject that cannot be stored as it is does not keep the request from being recorded', async () => {
  await using app = await anApp({ resources: [(server) => addRoute(server, act, async () => ({ seen: null }))] })
  expect((await app.ask('POST', '/v1/test/a%00b')).status).toBe(200)
  expect((await app.ask('POST', `/v1/test/${'x'.repeat(3000)}`)).status).toBe(200)
  const [long, odd] = await entries(app)
  expect(odd.subject).toEqual({ name: 'a\ufffdb' })
  expect(long.subject.name.length).toBe(500)
})

test('the record is filtered by actor, action and time', async () => {
  const { json } = await server.ask('POST', '/v1/tokens', { body: { name: 'ci', role: 'operator' } })
  await server.ask('POST', '/v1/tasks/1/hold', { token: json.secret })
  await server.database.pool.query("update millrace.audit set at = at - interval '1 day' where actor = 'admin'")
  const since = new Date(Date.now() - 3_600_000).toISOString()
  expect(await entries(server, '?actor=admin')).toMatchObject([{ action: 'tokens.create' }])
  expect(await entries(server, '?action=tasks.hold')).toMatchObject([{ actor: 'token:ci' }])
  expect(await entries(server, `?since=${since}`)).toMatchObject([{ action: 'tasks.hold' }])
  const page = await server.ask('GET', '/v1/audit?limit=1')
  expect(await entries(server, `?limit=1&cursor=${page.json.next_cursor}`)).toMatchObject([{ action: 'tokens.create' }])
  const other = await server.ask('GET', `/v1/audit?actor=admin&cursor=${page.json.next_cursor}`)
  expect(other.json).toMatchObject({ code: 'cursor_mismatch' })
})
