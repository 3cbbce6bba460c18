import { expect, test } from 'vitest'
import { aServer, type TestServer, useServer } from '../../test/server.ts'

const create = (server: TestServer, body: object, more: object = {}) =>
  server.ask('POST', '/v1/tokens', { body, ...more })
const listed = async (name: string) => {
  const { json, text } = await server.ask('GET', '/v1/tokens')
  return { items: json.items.filter((item: { name: string }) => item.name === name), text }
}
/** Lets a token expire. */
const expire = (id: string) =>
  server.database.pool.query("update millrace.token set expires_at = now() - interval '1 second' where id = $1", [id])
const me = async (server: TestServer, token: string) => (await server.ask('GET', '/v1/me', { token })).json

const server = useServer()

test('a token is shown once and does what its role allows', async () => {
  const { status, json } = await create(server, { name: 'shown-once', role: 'operator' })
  expect(status).toBe(201)
  expect(json).toMatchObject({
    name: 'shown-once',
    role: 'operator',
    limit: null,
    created_by: 'admin',
    revoked_at: null,
  })
  expect(json.secret).toMatch(/^mr_[\w-]{43}$/)
  expect(await me(server, json.secret)).toEqual({
    name: 'token:shown-once',
    role: 'operator',
    limit: null,
    via: 'token',
    until: null,
  })
  const { items, text } = await listed('shown-once')
  expect(items).toMatchObject([{ id: json.id, name: 'shown-once' }])
  expect(text).not.toContain(json.secret)
})

test('the database holds a hash of the secret and not the secret', async () => {
  const headers = { 'idempotency-key': 'make-hashed' }
  const { json } = await create(server, { name: 'hashed', role: 'viewer' }, { headers })
  for (const table of ['token', 'first_answer', 'audit']) {
    const { rows } = await server.database.pool.query(`select t::text as row from millrace.${table} t`)
    expect(rows.length).toBeGreaterThan(0)
    expect(rows.map(({ row }) => row).join()).not.toContain(json.secret.slice(3))
  }
})

test('a repeated creation makes no second token, and does not show the secret again', async () => {
  const headers = { 'idempotency-key': 'make-repeated' }
  const first = await create(server, { name: 'repeated', role: 'viewer' }, { headers })
  const again = await create(server, { name: 'repeated', role: 'viewer' }, { headers })
  expect(again.status).toBe(201)
  expect(again.headers.get('idempotency-replayed')).toBe('true')
  expect(again.json).toEqual({ ...first.json, secret: null })
})

test('a revoked token is refused at once, on every server of the database', async () => {
  await using second = await aServer({ on: server.database })
  const { json } = await create(server, { name: 'revoked', role: 'admin' })
  expect(await me(second, json.secret)).toMatchObject({ name: 'token:revoked' })
  expect((await server.ask('DELETE', `/v1/tokens/${json.id}`)).status).toBe(204)
  for (const one of [server, second]) expect(await me(one, json.secret)).toMatchObject({ code: 'unauthorized' })
  expect((await server.ask('DELETE', `/v1/tokens/${json.id}`)).status).toBe(204)
  expect((await listed('revoked')).items).toMatchObject([{ revoked_by: 'admin', revoked_at: expect.any(String) }])
})

test('an expired token is refused', async () => {
  const expires_at = new Date(Date.now() + 3_600_000).toISOString()
  const { json } = await create(server, { name: 'expired', role: 'viewer', expires_at })
  expect(await me(server, json.secret)).toMatchObject({ role: 'viewer' })
  await expire(json.id)
  expect(await me(server, json.secret)).toMatchObject({ code: 'unauthorized' })
})

test('a name is free again when its token has expired', async () => {
  const expires_at = new Date(Date.now() + 3_600_000).toISOString()
  const { json } = await create(server, { name: 'free-again', role: 'viewer', expires_at })
  expect((await create(server, { name: 'free-again', role: 'admin' })).json).toMatchObject({ code: 'token_name_taken' })
  await expire(json.id)
  expect((await create(server, { name: 'free-again', role: 'admin' })).status).toBe(201)
  expect((await listed('free-again')).items).toMatchObject([
    { role: 'admin', revoked_at: null },
    { role: 'viewer', revoked_by: 'its expiry' },
  ])
})

test('a name belongs to one working token, and is free again when that is revoked', async () => {
  const { json } = await create(server, { name: 'taken', role: 'viewer' })
  expect((await create(server, { name: 'taken', role: 'admin' })).json).toMatchObject({ code: 'token_name_taken' })
  await server.ask('DELETE', `/v1/tokens/${json.id}`)
  expect((await create(server, { name: 'taken', role: 'admin' })).status).toBe(201)
})

test('a token has a role or a limit, and an end in the future', async () => {
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
  const { json } = await create(server, { name: 'used', role: 'viewer' })
  const { pool } = server.database
  const lastUse = async () => {
    const { rows } = await pool.query('select last_used_at from millrace.token where id = $1', [json.id])
    return rows[0].last_used_at as Date | null
  }
  await me(server, json.secret)
  await expect.poll(lastUse).not.toBeNull()
  const first = await lastUse()
  await me(server, json.secret)
  await pool.query("update millrace.token set last_used_at = last_used_at - interval '61 seconds' where id = $1", [
    json.id,
  ])
  await me(server, json.secret)
  await expect.poll(lastUse).not.toEqual(new Date((first?.getTime() ?? 0) - 61_000))
})

test('the list comes in pages, and a cursor is good for its own list alone', async () => {
  const before = (await server.ask('GET', '/v1/tokens?limit=500')).json
  for (const name of ['a', 'b', 'c', 'd', 'e']) await create(server, { name, role: 'viewer' })
  const nameOf = (item: { name: string }) => item.name
  const names: string[] = []
  let cursor: string | null = null
  do {
    const { json } = await server.ask('GET', `/v1/tokens?limit=2${cursor === null ? '' : `&cursor=${cursor}`}`)
    names.push(...json.items.map(nameOf))
    cursor = json.next_cursor
  } while (cursor !== null)
  expect(names).toEqual(['e', 'd', 'c', 'b', 'a', ...before.items.map(nameOf)])
  const { json } = await server.ask('GET', '/v1/tokens?limit=2')
  const other = await server.ask('GET', `/v1/audit?cursor=${json.next_cursor}`)
  expect(other.json).toMatchObject({ status: 400, code: 'cursor_mismatch' })
})
