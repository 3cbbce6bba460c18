import { expect, test } from 'vitest'
import { aServer, type TestServer } from '../../test/server.ts'

const create = (server: TestServer, body: object, more: object = {}) =>
  server.ask('POST', '/v1/tokens', { body, ...more })
const me = async (server: TestServer, token: string) => (await server.ask('GET', '/v1/me', { token })).json

test('a token is shown once and does what its role allows', async () => {
  await using server = await aServer()
  const { status, json } = await create(server, { name: 'ci', role: 'operator' })
  expect(status).toBe(201)
  expect(json).toMatchObject({ name: 'ci', role: 'operator', limit: null, created_by: 'admin', revoked_at: null })
  expect(json.secret).toMatch(/^mr_[\w-]{43}$/)
  expect(await me(server, json.secret)).toEqual({
    name: 'token:ci',
    role: 'operator',
    limit: null,
    via: 'token',
    until: null,
  })
  const listed = await server.ask('GET', '/v1/tokens')
  expect(listed.json.items).toMatchObject([{ id: json.id, name: 'ci' }])
  expect(listed.text).not.toContain(json.secret)
})

test('the database holds a hash of the secret and not the secret', async () => {
  await using server = await aServer()
  const headers = { 'idempotency-key': 'make-ci' }
  const { json } = await create(server, { name: 'ci', role: 'viewer' }, { headers })
  for (const table of ['token', 'first_answer', 'audit']) {
    const { rows } = await server.database.pool.query(`select t::text as row from millrace.${table} t`)
    expect(rows.length).toBeGreaterThan(0)
    expect(rows.map(({ row }) => row).join()).not.toContain(json.secret.slice(3))
  }
})

test('a repeated creation makes no second token, and does not show the secret again', async () => {
  await using server = await aServer()
  const headers = { 'idempotency-key': 'make-ci' }
  const first = await create(server, { name: 'ci', role: 'viewer' }, { headers })
  const again = await create(server, { name: 'ci', role: 'viewer' }, { headers })
  expect(again.status).toBe(201)
  expect(again.headers.get('idempotency-replayed')).toBe('true')
  expect(again.json).toEqual({ ...first.json, secret: null })
})

test('a revoked token is refused at once, on every server of the database', async () => {
  await using first = await aServer()
  await using second = await aServer({ on: first.database })
  const { json } = await create(first, { name: 'ci', role: 'admin' })
  expect(await me(second, json.secret)).toMatchObject({ name: 'token:ci' })
  expect((await first.ask('DELETE', `/v1/tokens/${json.id}`)).status).toBe(204)
  for (const server of [first, second]) expect(await me(server, json.secret)).toMatchObject({ code: 'unauthorized' })
  expect((await first.ask('DELETE', `/v1/tokens/${json.id}`)).status).toBe(204)
  const listed = await first.ask('GET', '/v1/tokens')
  expect(listed.json.items).toMatchObject([{ revoked_by: 'admin', revoked_at: expect.any(String) }])
})

test('an expired token is refused', async () => {
  await using server = await aServer()
  const expires_at = new Date(Date.now() + 3_600_000).toISOString()
  const { json } = await create(server, { name: 'ci', role: 'viewer', expires_at })
  expect(await me(server, json.secret)).toMatchObject({ role: 'viewer' })
  await server.database.pool.query("update millrace.token set expires_at = now() - interval '1 second'")
  expect(await me(server, json.secret)).toMatchObject({ code: 'unauthorized' })
})

test('a name is free again when its token has expired', async () => {
  await using server = await aServer()
  const expires_at = new Date(Date.now() + 3_600_000).toISOString()
  await create(server, { name: 'ci', role: 'viewer', expires_at })
  expect((await create(server, { name: 'ci', role: 'admin' })).json).toMatchObject({ code: 'token_name_taken' })
  await server.database.pool.query("update millrace.token set expires_at = now() - interval '1 second'")
  expect((await create(server, { name: 'ci', role: 'admin' })).status).toBe(201)
  const { json } = await server.ask('GET', '/v1/tokens')
  expect(json.items).toMatchObject([
    { role: 'admin', revoked_at: null },
    { role: 'viewer', revoked_by: 'its expiry' },
  ])
})

test('a name belongs to one working token, and is free again when that is revoked', async () => {
  await using server = await aServer()
  const { json } = await create(server, { name: 'ci', role: 'viewer' })
  expect((await create(server, { name: 'ci', role: 'admin' })).json).toMatchObject({ code: 'token_name_taken' })
  await server.ask('DELETE', `/v1/tokens/${json.id}`)
  expect((await create(server, { name: 'ci', role: 'admin' })).status).toBe(201)
})

test('a token has a role or a limit, and an end in the future', async () => {
  await using server = await aServer()
  const limit = { to: 'archive', name: 'My-Project' }
  for (const body of [
    { name: 'a' },
    { name: 'a', role: 'viewer', limit },
    { name: 'a', role: 'owner' },
    { name: 'a', limit: { to: 'world', name: 'x' } },
    { name: 'a', limit: { to: 'node', name: 'x' } },
    { name: 'a', limit: { to: 'task', name: 'My-Project@12:index' } },
    { name: 'a', limit: { to: 'node', name: '9'.repeat(19) } },
    { name: '', role: 'viewer' },
    { name: 'a\u0000b', role: 'viewer' },
    { name: 'a', role: 'viewer', expires_at: '2020-01-01T00:00:00Z' },
  ]) {
    expect((await create(server, body)).status, JSON.stringify(body)).toBe(400)
  }
  const { json } = await create(server, { name: 'hook', limit })
  expect(await me(server, json.secret)).toMatchObject({ name: 'token:hook', role: null, limit })
})

test('the use of a token is noted once a minute', async () => {
  await using server = await aServer()
  const { json } = await create(server, { name: 'ci', role: 'viewer' })
  const lastUse = async () => {
    const { rows } = await server.database.pool.query('select last_used_at from millrace.token')
    return rows[0].last_used_at as Date | null
  }
  await me(server, json.secret)
  await expect.poll(lastUse).not.toBeNull()
  const first = await lastUse()
  await me(server, json.secret)
  await server.database.pool.query("update millrace.token set last_used_at = last_used_at - interval '61 seconds'")
  await me(server, json.secret)
  await expect.poll(lastUse).not.toEqual(new Date((first?.getTime() ?? 0) - 61_000))
})

test('the list comes in pages, and a cursor is good for its own list alone', async () => {
  await using server = await aServer()
  for (const name of ['a', 'b', 'c', 'd', 'e']) await create(server, { name, role: 'viewer' })
  const names: string[] = []
  let cursor: string | null = null
  do {
    const { json } = await server.ask('GET', `/v1/tokens?limit=2${cursor === null ? '' : `&cursor=${cursor}`}`)
    names.push(...json.items.map((item: { name: string }) => item.name))
    cursor = json.next_cursor
  } while (cursor !== null)
  expect(names).toEqual(['e', 'd', 'c', 'b', 'a'])
  const { json } = await server.ask('GET', '/v1/tokens?limit=2')
  const other = await server.ask('GET', `/v1/audit?cursor=${json.next_cursor}`)
  expect(other.json).toMatchObject({ status: 400, code: 'cursor_mismatch' })
})
