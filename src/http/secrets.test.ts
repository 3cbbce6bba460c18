import { beforeEach, expect, test } from 'vitest'
import { aServer, useServer } from '../../test/server.ts'

const VALUE = 'the-value-that-nobody-may-see'

const server = useServer()
beforeEach(() => server.database.pool.query('delete from millrace.secret; delete from millrace.audit'))

test('a secret goes in, and only its name, versions and times come out', async () => {
  const set = await server.ask('PUT', '/v1/secrets/KEY', { body: { value: VALUE } })
  expect(set.status).toBe(200)
  expect(set.json).toMatchObject({ name: 'KEY', archive: null, version: 1, created_by: 'admin', changed_by: 'admin' })
  expect(set.headers.get('etag')).toBe('"1"')
  const own = await server.ask('PUT', '/v1/archives/My-Project/secrets/KEY', { body: { value: `${VALUE}2` } })
  expect(own.json).toMatchObject({ name: 'KEY', archive: 'My-Project', version: 1 })
  await server.ask('PUT', '/v1/archives/Other/secrets/KEY', { body: { value: `${VALUE}3` } })
  const all = await server.ask('GET', '/v1/secrets')
  expect(all.json.items.map(({ archive }: { archive: string }) => archive)).toEqual([null, 'My-Project', 'Other'])
  const some = await server.ask('GET', '/v1/archives/My-Project/secrets?limit=1')
  expect(some.json.items).toHaveLength(1)
  const rest = await server.ask('GET', `/v1/archives/My-Project/secrets?limit=1&cursor=${some.json.next_cursor}`)
  expect(rest.json).toMatchObject({ items: [{ archive: 'My-Project' }], next_cursor: null })

  const { rows } = await server.database.pool.query(
    `select x::text as told from millrace.audit x union all select x::text from millrace.outbox x union all select x::text from millrace.secret x`,
  )
  for (const told of [set, own, all, some, rest].map(({ text }) => text)) expect(told).not.toContain(VALUE)
  for (const { told } of rows) expect(told).not.toContain(VALUE)
})

test('every change of a secret is in the record, with who made it', async () => {
  await server.ask('PUT', '/v1/archives/My-Project/secrets/KEY', { body: { value: VALUE } })
  await server.ask('PUT', '/v1/secrets/KEY', { body: { value: VALUE } })
  await server.ask('DELETE', '/v1/secrets/KEY')
  const { json } = await server.ask('GET', '/v1/audit')
  const told = json.items.map(({ action, subject, status }: Record<string, unknown>) => [action, subject, status])
  expect(told).toEqual([
    ['secrets.remove', { name: 'KEY' }, 204],
    ['secrets.set', { name: 'KEY' }, 200],
    ['secrets.set_of_archive', { archive: 'My-Project', name: 'KEY' }, 200],
  ])
})

test('a secret is changed at the version that was meant, and what cannot be is refused', async () => {
  const put = (value: unknown, headers = {}) => server.ask('PUT', '/v1/secrets/KEY', { body: { value }, headers })
  await put('one')
  expect((await put('two', { 'if-match': '"1"' })).json.version).toBe(2)
  expect((await put('three', { 'if-match': '"1"' })).json.code).toBe('precondition_failed')
  for (const value of ['a\u0000b', 'x'.repeat(65_537), 7, undefined])
    expect((await put(value)).json.code).toBe('invalid')
  for (const name of [
    'PATH',
    'HOME',
    'LD_PRELOAD',
    'LD_LIBRARY_PATH',
    'NODE_OPTIONS',
    'BASH_ENV',
    'IFS',
    'MILLRACE_TOKEN',
  ]) {
    const { json } = await server.ask('PUT', `/v1/secrets/${name}`, { body: { value: 'x' } })
    expect(json, name).toMatchObject({ status: 400, code: 'secret_name_reserved' })
    expect(json.detail).toContain(`secret ${name} is refused: `)
    expect((await server.ask('PUT', `/v1/archives/A/secrets/${name}`, { body: { value: 'x' } })).status).toBe(400)
    expect((await server.ask('DELETE', `/v1/secrets/${name}`)).json.code).toBe('secret_not_found')
  }
  for (const name of ['1KEY', 'a-b', 'x'.repeat(101)]) {
    expect((await server.ask('PUT', `/v1/secrets/${name}`, { body: { value: 'x' } })).json.code).toBe('invalid')
  }
  expect((await server.ask('DELETE', '/v1/secrets/KEY', { headers: { 'if-match': '"1"' } })).status).toBe(412)
  expect((await server.ask('DELETE', '/v1/secrets/KEY')).status).toBe(204)
  expect((await server.ask('DELETE', '/v1/secrets/KEY')).json.code).toBe('secret_not_found')
})

test('a server without the key of the others says so and keeps what is there', async () => {
  await server.ask('PUT', '/v1/secrets/KEY', { body: { value: 'x' } })
  await using second = await aServer({ on: server.database })
  const refused = await second.ask('PUT', '/v1/secrets/NEW', { body: { value: 'x' } })
  expect(refused.json).toMatchObject({ status: 409, code: 'secret_key_missing' })
  expect(refused.json.remedy).toContain('MILLRACE_SECRET_KEY_FILE')
  await using third = await aServer({ on: server.database, secret_key: 'k'.repeat(40) })
  expect((await third.ask('PUT', '/v1/secrets/NEW', { body: { value: 'x' } })).json.code).toBe('secret_key_wrong')
  expect((await server.ask('GET', '/v1/secrets')).json.items).toHaveLength(1)
})
