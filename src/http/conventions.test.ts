// What holds for every request, whatever it asks for: tried on a route that takes anything, with bytes as they are.
import { connect } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { anApp, type TestApp } from '../../test/app.ts'
import { ADMIN } from '../../test/server.ts'
import { route } from '../api/index.ts'
import { addRoute } from './add-route.ts'
import type { DatabaseTrouble } from './database-trouble.ts'

const path = '/v1/anything/{name}'
const common = { path, summary: 'Test', access: { role: 'viewer' }, answers: { 200: z.unknown() } } as const
const params = z.strictObject({ name: z.string() })
const read = route({
  ...common,
  method: 'GET',
  name: 'anything.get',
  params,
  query: z.strictObject({ colour: z.string().optional() }),
})
const put = route({
  ...common,
  method: 'PUT',
  name: 'anything.put',
  params,
  body: z.unknown().optional(),
})
const store = route({ ...put, method: 'POST', name: 'anything.store' })

const creating = route({
  ...put,
  method: 'POST',
  path: '/v1/created/{name}',
  name: 'anything.create',
  isCreating: true,
})

const troubles: Record<string, DatabaseTrouble> = { 'the database went away': 'away', 'it was late': 'late' }

let app: TestApp
beforeAll(async () => {
  app = await anApp({
    databaseTrouble: (error) => troubles[(error as Error).message],
    resources: [
      (server) => {
        addRoute(server, read, async ({ params: { name }, query }) => {
          if (name === 'away') throw new Error('the database went away')
          return { name, ...query }
        })
        addRoute(server, put, async ({ params: { name }, body }) => {
          if (name === 'late') throw new Error('it was late')
          return { name, body }
        })
        addRoute(server, creating, async () => {
          throw new Error('it was late')
        })
        addRoute(server, store, ({ body, once }) =>
          once(async (tx) => (await tx.query('select $1::jsonb as body', [JSON.stringify(body)])).rows[0]),
        )
      },
    ],
  })
})
afterAll(() => app[Symbol.asyncDispose]())

/** Sends bytes as they are and answers what comes back until the connection closes. */
function raw(bytes: string): Promise<{ status: number; head: string; body: string }> {
  const { hostname, port } = new URL(app.url)
  return new Promise((resolve, reject) => {
    let text = ''
    const socket = connect(Number(port), hostname, () => socket.write(bytes))
    socket.setTimeout(10_000, () => socket.destroy(new Error(`no end after: ${text}`)))
    socket.on('data', (chunk) => {
      text += String(chunk)
    })
    socket.on('error', reject)
    socket.on('close', () => {
      const [head = '', body = ''] = text.split('\r\n\r\n')
      resolve({ status: Number(head.split(' ')[1]), head: head.toLowerCase(), body })
    })
  })
}
const request = (line: string, ...headers: string[]) =>
  `${[`${line} HTTP/1.1`, 'Host: x', `Authorization: Bearer ${ADMIN}`, 'Connection: close', ...headers].join('\r\n')}\r\n\r\n`
const send = (body: string, headers: Record<string, string> = {}, method = 'PUT') =>
  app.ask(method, '/v1/anything/x', { body, headers })

test('a body must be JSON and say so', async () => {
  expect((await send('{"a":1}')).json).toEqual({ name: 'x', body: { a: 1 } })
  expect((await send('{"a":1}', { 'content-type': 'application/json; charset=utf-8' })).status).toBe(200)
  for (const type of [
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data',
    'text/html',
    'nonsense',
  ]) {
    expect((await send('{"a":1}', { 'content-type': type })).json, type).toMatchObject({
      status: 415,
      code: 'unsupported_type',
    })
  }
  const bare = await raw(request('PUT /v1/anything/x', 'Content-Length: 7').concat('{"a":1}'))
  expect(bare.status).toBe(415)
})

test('an empty body is no body', async () => {
  expect((await send('')).json).toEqual({ name: 'x' })
})

test('a body that is no JSON, or not in UTF-8, is a bad request', async () => {
  for (const body of ['{', '[1,]', "{'a':1}", '\u0000', 'NaN', '{"a":1}x']) {
    expect((await send(body)).json, body).toMatchObject({ status: 400, code: 'bad_request' })
  }
  const answer = await fetch(`${app.url}/v1/anything/x`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${ADMIN}`, 'content-type': 'application/json' },
    body: Buffer.from('{"a":"\u00ff"}', 'latin1'),
  })
  expect(await answer.json()).toMatchObject({ status: 400, code: 'bad_request', detail: 'the body is not UTF-8' })
})

test('a number that reading would alter is refused, with where it is; others are kept', async () => {
  for (const [number, pointer] of [
    ['{"a":1e400}', '/body/a'],
    ['{"a":[0,{"b/c":[-1e400]}]}', '/body/a/1/b~1c/0'],
    ['{"x":"1e400 \\" 5","long":123456789012345678901234567890}', '/body/long'],
    ['{"a":[1,[2],3],"b":{"c":9007199254740992}}', '/body/b/c'],
    ['{"a":-9007199254740993}', '/body/a'],
  ] as const) {
    const { json } = await send(number)
    expect(json, number).toMatchObject({ status: 400, code: 'number_not_exact', errors: [{ pointer }] })
  }
  const kept = '{"a":[1.0,1e3,0.1,-0,-1.5E-3,9007199254740991,1e20,0.12345678901234567890],"1e400":"1e400"}'
  expect(JSON.stringify((await send(kept)).json.body)).toBe(JSON.stringify(JSON.parse(kept)))
})

test('a body with an encoding is refused', async () => {
  for (const encoding of ['gzip', 'br', 'GZIP', 'identity, gzip', 'x']) {
    const { json, headers } = await send('{"a":1}', { 'content-encoding': encoding })
    expect(json, encoding).toMatchObject({ status: 415, code: 'unsupported_encoding' })
    expect(headers.get('accept-encoding')).toBe('identity')
  }
  expect((await send('{"a":1}', { 'content-encoding': 'Identity' })).json).toEqual({ name: 'x', body: { a: 1 } })
})

test('deep nesting is refused before it can hurt', async () => {
  const nested = (levels: number) => `{"a":${'['.repeat(levels - 1)}${']'.repeat(levels - 1)}}`
  expect((await send(nested(200))).status).toBe(200)
  for (const levels of [201, 100_000, 2_000_000]) {
    expect((await send(nested(levels))).json).toMatchObject({ status: 400, code: 'bad_request' })
  }
  expect((await send(`{"a":"${'['.repeat(1000)}\\"${'{'.repeat(1000)}"}`)).status).toBe(200)
})

test('keys that are names of the prototype of objects are keys like any other in a body', async () => {
  for (const body of [
    '{"__proto__":{"isAdmin":true}}',
    '{"a":{"b":[{"__proto__":1}]}}',
    '{"\\u005f_proto__":1}',
    '{"constructor":{"prototype":{"isAdmin":true}},"toString":1,"hasOwnProperty":null}',
  ]) {
    const { status, text } = await send(body)
    expect([status, text], body).toEqual([200, `{"name":"x","body":${JSON.stringify(JSON.parse(body))}}`])
  }
  expect((await app.ask('GET', '/v1/anything/x?__proto__=1')).json).toMatchObject({ code: 'invalid' })
  expect((await app.ask('GET', '/v1/anything/x?constructor=1')).json).toMatchObject({ code: 'invalid' })
  expect((await app.ask('GET', '/v1/anything/__proto__')).json).toEqual({ name: '__proto__' })
  expect(({} as { isAdmin?: boolean }).isAdmin).toBeUndefined()
})

test('a body of 10 MB is too large, said or not said', async () => {
  const body = `{"a":"${'x'.repeat(10_000_000)}"}`
  const length = `Content-Length: ${body.length}`
  const said = await raw(request('PUT /v1/anything/x', 'Content-Type: application/json', length))
  expect([said.status, JSON.parse(said.body)]).toMatchObject([413, { code: 'too_large' }])
  const chunk = `${(1_000_000).toString(16)}\r\n${'x'.repeat(1_000_000)}\r\n`
  const unsaid = await raw(
    `${request('PUT /v1/anything/x', 'Content-Type: application/json', 'Transfer-Encoding: chunked')}${chunk.repeat(10)}`,
  ).catch(() => undefined)
  // The server may close the connection before all of it was sent.
  if (unsaid?.body) expect(unsaid.status).toBe(413)
})

test('what PostgreSQL cannot store is the request’s fault', async () => {
  for (const body of ['{"a":"\\u0000"}', '{"a":["\\ud800"]}']) {
    expect((await send(body, {}, 'POST')).json, body).toMatchObject({ status: 400, code: 'invalid' })
  }
})

test('a database that is away is a matter of waiting', async () => {
  const { json, headers } = await app.ask('GET', '/v1/anything/away')
  expect(json).toMatchObject({ status: 503, code: 'not_ready' })
  expect(headers.get('retry-after')).toBe('1')
})

test('a database that is late is told with what it means for the change', async () => {
  const late = { status: 503, code: 'database_late' }
  const unsure = 'the database did not answer in time; the change may or may not have been made'
  const { json, headers } = await app.ask('PUT', '/v1/anything/late', { body: {} })
  expect(json).toMatchObject({ ...late, detail: unsure, remedy: expect.stringContaining('look whether') })
  expect(headers.get('retry-after')).toBe('1')
  const key = { 'idempotency-key': 'k' }
  expect((await app.ask('POST', '/v1/created/x', { body: {}, headers: key })).json).toMatchObject({
    ...late,
    detail: unsure,
    remedy: 'send the request again with the same Idempotency-Key: the change is made once',
  })
})

test('the body of a GET is ignored', async () => {
  const { status, body } = await raw(
    request('GET /v1/anything/x', 'Content-Type: application/json', 'Content-Length: 5').concat('{"a":'),
  )
  expect([status, JSON.parse(body)]).toEqual([200, { name: 'x' }])
})

test('HEAD answers as GET does, without the body', async () => {
  const { status, head, body } = await raw(request('HEAD /v1/anything/x'))
  expect([status, body]).toEqual([200, ''])
  expect(head).toContain('content-type: application/json')
  expect(head).toContain('content-length: 12')
})

test('another method on a known path is refused with those that there are', async () => {
  for (const [method, path, allowed] of [
    ['DELETE', '/v1/anything/x', 'GET, HEAD, POST, PUT'],
    ['OPTIONS', '/v1/anything/x', 'GET, HEAD, POST, PUT'],
    ['PATCH', '/v1/anything/%2e%2e%2f?x=1', 'GET, HEAD, POST, PUT'],
    ['POST', '/livez', 'GET, HEAD'],
    ['PUT', '/v1/openapi.json', 'GET, HEAD'],
  ] as const) {
    const { json, headers } = await app.ask(method, path)
    expect(json, `${method} ${path}`).toMatchObject({ status: 405, code: 'method_not_allowed' })
    expect(headers.get('allow')).toBe(allowed)
  }
  expect((await app.ask('DELETE', '/v1/openapixjson')).json).toMatchObject({ status: 404 })
})

test('an unknown path is a 404, and its query stays out of the answer', async () => {
  const { json } = await app.ask('GET', '/v1/nowhere?token=secret')
  expect(json).toMatchObject({ status: 404, code: 'not_found', detail: 'no GET /v1/nowhere' })
})

test('wrong percent-encoding is a bad request, in the path and in the query', async () => {
  for (const target of [
    '/v1/anything/%',
    '/v1/anything/%zz',
    '/v1/anything/%ff',
    '/%',
    '/v1/anything/x?colour=%',
    '/v1/anything/x?colour=%ff',
    '/nowhere?%zz',
  ]) {
    const { status, head, body } = await raw(request(`GET ${target}`))
    expect([status, JSON.parse(body).code], target).toEqual([400, 'bad_request'])
    expect(head).toContain('content-type: application/problem+json')
  }
})

test('a parameter given twice is refused, and so is an unknown one', async () => {
  for (const query of ['colour=red&colour=blue', 'size=1', 'colour[]=red', '=1']) {
    const { json } = await app.ask('GET', `/v1/anything/x?${query}`)
    expect(json, query).toMatchObject({ status: 400, code: 'invalid', errors: [expect.any(Object)] })
  }
})

test('a parameter of the path that is too long is a bad request', async () => {
  expect((await app.ask('GET', `/v1/anything/${'x'.repeat(4001)}`)).json).toMatchObject({ status: 400 })
})

test('what is no HTTP is answered like every other problem', async () => {
  for (const [bytes, expected] of [
    ['NONSENSE\r\n\r\n', 400],
    ['GET / HTTP/9.9\r\nHost: x\r\n\r\n', 400],
    ['FOO /v1/me HTTP/1.1\r\nHost: x\r\n\r\n', 400],
    [`GET /v1/me HTTP/1.1\r\nHost: x\r\nX: ${'y'.repeat(20_000)}\r\n\r\n`, 431],
    ['PUT /v1/anything/x HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n', 400],
  ] as const) {
    const { status, head, body } = await raw(bytes)
    expect(status, bytes.slice(0, 40)).toBe(expected)
    expect(head).toContain('content-type: application/problem+json')
    expect(JSON.parse(body)).toMatchObject({ status: expected, code: expect.any(String) })
  }
  expect((await app.ask('GET', '/v1/me')).status).toBe(200)
})

test('an answer is for its caller alone and for no cache, frame or other site', async () => {
  for (const target of ['/v1/me', '/v1/nowhere', '/v1/anything/x?colour=1&colour=2']) {
    const { headers } = await app.ask('GET', target, { headers: { origin: 'https://elsewhere.example' } })
    expect(headers.get('cache-control'), target).toBe('no-store')
    expect(headers.get('x-content-type-options')).toBe('nosniff')
    expect(headers.get('x-frame-options')).toBe('DENY')
    expect(headers.get('referrer-policy')).toBe('no-referrer')
    expect([...headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual([])
  }
})

test('pages may load from this server alone, and run nothing that stands in them', async () => {
  const { headers } = await app.ask('GET', '/v1/me')
  const policy = headers.get('content-security-policy') ?? ''
  expect(policy).toContain("default-src 'none'")
  expect(policy).toContain("script-src 'self'")
  expect(policy).toContain("frame-ancestors 'none'")
  expect(policy).not.toMatch(/unsafe|https?:|\*|upgrade-insecure/)
})

test('a request has an id: its own when that is harmless, else one of ours', async () => {
  const idOf = async (id?: string) =>
    (await app.ask('GET', '/v1/me', { headers: id === undefined ? {} : { 'x-request-id': id } })).headers.get(
      'x-request-id',
    )
  expect(await idOf('my-id.1')).toBe('my-id.1')
  for (const id of [undefined, 'a b', '"x"', 'x'.repeat(101)]) expect(await idOf(id)).toMatch(/^[\da-f-]{36}$/)
  const { json } = await app.ask('GET', '/v1/nowhere', { headers: { 'x-request-id': 'told-again' } })
  expect(json.request_id).toBe('told-again')
})
