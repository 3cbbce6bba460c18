import { afterEach, describe, expect, test } from 'vitest'
import { waitFor } from '../../test/processes.ts'
import { aReceiver, type Received } from '../../test/receiver.ts'
import { aServer, useServer } from '../../test/server.ts'
import { signatureOf, typesOf } from '../../test/webhooks.ts'
import { publish } from '../engine/index.ts'

const settings = { outbound_allow: '127.0.0.0/8' }
const server = useServer(settings)
const create = async (body: object) => (await server.ask('POST', '/v1/webhooks', { body })).json
const tell = (name: string, scope = 'test') => publish(server.database.pool, { name, scope })

afterEach(async () => {
  const { json } = await server.ask('GET', '/v1/webhooks')
  for (const { id } of json.items) await server.ask('DELETE', `/v1/webhooks/${id}`)
})

describe('a webhook', () => {
  test('is created, shown without its secret, changed and removed', async () => {
    const made = await server.ask('POST', '/v1/webhooks', {
      body: { url: 'https://hooks.example.org/a', names: ['failed'] },
    })
    expect(made.status).toBe(201)
    expect(made.headers.get('location')).toBe(`/v1/webhooks/${made.json.id}`)
    expect(made.json.secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
    const path = `/v1/webhooks/${made.json.id}`
    const { secret: _, ...shown } = made.json
    const found = await server.ask('GET', path)
    expect(found.json).toEqual(shown)
    expect(shown).toMatchObject({ names: ['failed'], scopes: [], enabled: true, created_by: 'admin', version: 1 })

    const etag = found.headers.get('etag') ?? ''
    const changed = await server.ask('PATCH', path, { body: { enabled: false }, headers: { 'if-match': etag } })
    expect(changed.json).toMatchObject({ enabled: false, disabled_because: 'disabled by admin', version: 2 })
    for (const method of ['PATCH', 'DELETE']) {
      const body = method === 'PATCH' ? { body: { enabled: true } } : {}
      const stale = await server.ask(method, path, { ...body, headers: { 'if-match': etag } })
      expect(stale.json).toMatchObject({ status: 412, code: 'precondition_failed' })
    }
    expect((await server.ask('DELETE', path)).status).toBe(204)
    for (const [method, at] of [
      ['GET', path],
      ['DELETE', path],
      ['POST', `${path}/test`],
      ['POST', `${path}/rotate`],
      ['GET', `${path}/deliveries`],
    ] as const)
      expect((await server.ask(method, at)).json).toMatchObject({ status: 404, code: 'webhook_not_found' })
  })

  test('is told of what happens', async () => {
    const receiver = await aReceiver()
    const { id, secret } = await create({ url: receiver.url, scopes: ['test'] })
    await tell('test.one')
    await tell('test.two')
    await tell('test.two', 'elsewhere')
    const received = await receiver.count(2)
    expect(new Set(typesOf(received))).toEqual(new Set(['test.one', 'test.two']))
    for (const one of received) expect(one.headers['webhook-signature']).toBe(signatureOf(one, secret))
    const { json } = await server.ask('GET', `/v1/webhooks/${id}/deliveries`)
    expect(json.items.map(({ name }: { name: string }) => name)).toEqual(['test.two', 'test.one'])
  })

  test('is told of what happens after the database has cut all connections', async () => {
    await using server = await aServer(settings)
    const tell = (name: string) => publish(server.database.pool, { name, scope: 'test' })
    const receiver = await aReceiver()
    await server.ask('POST', '/v1/webhooks', { body: { url: receiver.url, scopes: ['test'] } })
    await tell('test.before')
    await receiver.count(1)
    await server.database.pool.query(
      'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
    )
    const toldOnce = () =>
      tell('test.after').then(
        () => true,
        () => undefined,
      )
    await waitFor(toldOnce)
    // The first may come twice: its outcome may not have been recorded yet.
    await waitFor(() => (typesOf(receiver.received).includes('test.after') ? true : undefined))
  })

  test('is created once under one idempotency key, and its secret shown once', async () => {
    const question = { body: { url: 'https://hooks.example.org/a' }, headers: { 'idempotency-key': 'one' } }
    const first = await server.ask('POST', '/v1/webhooks', question)
    const second = await server.ask('POST', '/v1/webhooks', question)
    expect(second.json).toEqual({ ...first.json, secret: null })
    expect((await server.ask('GET', '/v1/webhooks')).json.items.length).toBe(1)
  })

  test('is listed page by page', async () => {
    for (const name of ['a', 'b', 'c']) await create({ url: `https://hooks.example.org/${name}` })
    const first = await server.ask('GET', '/v1/webhooks?limit=2')
    const second = await server.ask('GET', `/v1/webhooks?limit=2&cursor=${first.json.next_cursor}`)
    const urls = [...first.json.items, ...second.json.items].map(({ url }) => url)
    expect(urls).toEqual(['a', 'b', 'c'].map((name) => `https://hooks.example.org/${name}`))
    expect(second.json.next_cursor).toBeNull()
  })

  test('with a wrong or inner URL is refused', async () => {
    await using server = await aServer()
    for (const [url, code] of [
      ['http://127.0.0.1:1/', 'address_refused'],
      ['http://2130706433/', 'address_refused'],
      ['http://169.254.169.254/latest/meta-data', 'address_refused'],
      ['http://[::ffff:10.0.0.1]/', 'address_refused'],
      ['ftp://example.org/', 'url_refused'],
      ['https://me:secret@example.org/', 'url_refused'],
      ['', 'invalid'],
    ]) {
      const { json } = await server.ask('POST', '/v1/webhooks', { body: { url } })
      expect(json, url).toMatchObject({ status: 400, code })
    }
    const { json } = await server.ask('POST', '/v1/webhooks', { body: { url: 'http://localhost:1/' } })
    // A name is resolved when something is sent.
    expect((await server.ask('POST', `/v1/webhooks/${json.id}/test`)).json).toMatchObject({
      state: 'failed',
      attempts: [{ status: null, error: expect.stringContaining('localhost is refused') }],
    })
  })

  test('is for administrators alone', async () => {
    const { json } = await server.ask('POST', '/v1/tokens', { body: { name: 'ops', role: 'operator' } })
    for (const token of [null, json.secret]) {
      const refused = await server.ask('GET', '/v1/webhooks', { token })
      expect([401, 403]).toContain(refused.status)
    }
  })
})

describe('a delivery', () => {
  test('is tried out, shown and sent again', async () => {
    const receiver = await aReceiver((response) =>
      response.writeHead(receiver.received.length > 1 ? 200 : 500).end('said'),
    )
    const { id } = await create({ url: receiver.url })
    const tried = await server.ask('POST', `/v1/webhooks/${id}/test`)
    expect(tried.json).toMatchObject({
      name: 'webhook.test',
      state: 'failed',
      attempts: [{ number: 1, status: 500, answer: 'said', error: 'the receiver answered 500' }],
    })
    const again = await server.ask('POST', `/v1/webhooks/${id}/deliveries/${tried.json.id}/resend`)
    expect(again).toMatchObject({ status: 202, json: { id: tried.json.id, message_id: tried.json.message_id } })
    const [first, second] = await receiver.count(2)
    expect(second?.headers['webhook-id']).toBe(first?.headers['webhook-id'])
    const failed = await server.ask('GET', `/v1/webhooks/${id}/deliveries?state=failed`)
    expect(failed.json.items).toEqual([])
    const unknown = await server.ask('POST', `/v1/webhooks/${id}/deliveries/99999/resend`)
    expect(unknown.json).toMatchObject({ status: 404, code: 'delivery_not_found' })
    await server.ask('PATCH', `/v1/webhooks/${id}`, { body: { enabled: false } })
    const refused = await server.ask('POST', `/v1/webhooks/${id}/deliveries/${tried.json.id}/resend`)
    expect(refused.json).toMatchObject({ status: 409, code: 'webhook_disabled' })
  })

  test('is signed with both secrets after a rotation', async () => {
    const receiver = await aReceiver()
    const { id, secret } = await create({ url: receiver.url })
    const rotated = await server.ask('POST', `/v1/webhooks/${id}/rotate`, { body: { keep_seconds: 60 } })
    expect(rotated.json).toMatchObject({
      secret: expect.stringMatching(/^whsec_/),
      old_secret_until: expect.any(String),
    })
    await server.ask('POST', `/v1/webhooks/${id}/test`)
    const [both] = (await receiver.count(1)) as [Received]
    expect(both.headers['webhook-signature']).toBe(
      `${signatureOf(both, rotated.json.secret)} ${signatureOf(both, secret)}`,
    )
    expect((await server.ask('POST', `/v1/webhooks/${id}/rotate`)).json.old_secret_until).not.toBeNull()
  })
})
