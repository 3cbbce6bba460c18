import { once } from 'node:events'
import { connect } from 'node:net'
import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { database, type TestDatabase } from '../../test/database.ts'
import { type AccessControl, adminToken, createAccess } from '../access/index.ts'
import { workflowJsonSchema } from '../archives/index.ts'
import { isLoopback } from './loopback.ts'
import { problems } from './problems.ts'
import { createServer, requireTokenFor } from './server.ts'

const TOKEN = 'a-token-of-some-length'
const fromElsewhere = { 'x-forwarded-for': '192.0.2.1' }

let db: TestDatabase
let access: AccessControl
beforeAll(async () => {
  db = await database()
  access = await createAccess({
    pool: db.pool,
    adminToken: await adminToken({ given: TOKEN, dataDir: '' }),
    isLive: async () => false,
    auditDays: 0,
    onError: () => {},
  })
})
afterAll(async () => {
  await access.close()
  await db[Symbol.asyncDispose]()
})

function aServer(readiness: () => Promise<string | undefined> = async () => undefined) {
  const server = createServer({ logger: pino({ level: 'silent' }), version: '0.0.0', access, rateLimit: 0, readiness })
  server.app.get('/breaks', async () => {
    throw new Error('a secret detail')
  })
  return { ...server, [Symbol.asyncDispose]: () => server.app.close() }
}

describe('probes', () => {
  test('a live server answers ok, ready or not', async () => {
    await using server = aServer(async () => 'the database is away')
    const answer = await server.app.inject('/livez')
    expect([answer.statusCode, answer.body]).toEqual([200, 'ok'])
  })

  test('a server that is not ready says why', async () => {
    await using server = aServer(async () => 'the database is away')
    const answer = await server.app.inject('/readyz')
    expect(answer.headers['content-type']).toMatch('application/problem+json')
    expect(answer.json()).toMatchObject({ status: 503, code: 'not_ready', detail: 'the database is away' })
  })
})

test('editors get the JSON Schema of workflow files without a token', async () => {
  await using server = aServer()
  const answer = await server.app.inject({ url: '/schemas/workflow.v1.json', headers: fromElsewhere })
  expect(answer.statusCode).toBe(200)
  expect(answer.json()).toEqual(workflowJsonSchema())
})

describe('metrics', () => {
  test('are given to a client on the same machine', async () => {
    await using server = aServer()
    const answer = await server.app.inject({ url: '/metrics', headers: { host: '127.0.0.1:7420' } })
    expect(answer.body).toContain('millrace_http_request_duration_seconds')
  })

  test('are refused to others without the token', async () => {
    await using server = aServer()
    for (const headers of [
      fromElsewhere,
      { host: 'rebound.example' },
      { host: 'localhost', 'x-forwarded-proto': 'https' },
      { ...fromElsewhere, authorization: 'Bearer no' },
    ]) {
      const answer = await server.app.inject({ url: '/metrics', headers })
      expect(answer.json()).toMatchObject({ status: 401, code: 'unauthorized' })
    }
  })

  test('are given to others with the token', async () => {
    await using server = aServer()
    const headers = { ...fromElsewhere, authorization: `Bearer ${TOKEN}` }
    expect((await server.app.inject({ url: '/metrics', headers })).statusCode).toBe(200)
  })

  test('name the route of a request and not its path', async () => {
    await using server = aServer()
    await server.app.inject('/no/such/thing/unheard-of')
    const { body } = await server.app.inject({ url: '/metrics', headers: { host: 'localhost' } })
    expect(body).toContain('route="none",status="404"')
    expect(body).not.toContain('unheard-of')
  })
})

describe('problems', () => {
  test('an unknown address is a problem with the code not_found', async () => {
    await using server = aServer()
    const answer = await server.app.inject('/nowhere')
    expect(answer.headers['content-type']).toMatch('application/problem+json')
    expect(answer.json()).toMatchObject({ status: 404, code: 'not_found', title: problems.not_found.title })
  })

  test('an unforeseen error is answered without its message', async () => {
    await using server = aServer()
    const answer = await server.app.inject('/breaks')
    expect(answer.json()).toMatchObject({ status: 500, code: 'internal', request_id: expect.any(String) })
    expect(answer.body).not.toContain('a secret detail')
  })

  test('a body that is no JSON is a bad request', async () => {
    await using server = aServer()
    const headers = { 'content-type': 'application/json' }
    const answer = await server.app.inject({ method: 'POST', url: '/v1/sign-in', headers, payload: '{' })
    expect(answer.json()).toMatchObject({ status: 400, code: 'bad_request' })
  })
})

describe('draining', () => {
  test('lets a request under way end', async () => {
    const server = aServer()
    let finish = () => {}
    const isUnderWay = new Promise<void>((begun) => {
      server.app.get('/slow', async () => {
        begun()
        await new Promise<void>((resolve) => {
          finish = resolve
        })
        return 'done'
      })
    })
    const url = await server.listen({ host: '127.0.0.1', port: 0 })
    const answer = fetch(`${url}/slow`)
    await isUnderWay
    const drained = server.drain(10_000)
    finish()
    expect(await (await answer).text()).toBe('done')
    await drained
    await expect(fetch(`${url}/livez`)).rejects.toThrow()
  })

  test('says so to probes and takes no new work while the old one ends', async () => {
    const server = aServer()
    let finish = () => {}
    const isUnderWay = new Promise<void>((begun) => {
      server.app.get('/slow', async () => {
        begun()
        await new Promise<void>((resolve) => {
          finish = resolve
        })
        return 'done'
      })
    })
    const url = await server.listen({ host: '127.0.0.1', port: 0 })
    const answer = fetch(`${url}/slow`)
    await isUnderWay
    expect((await fetch(`${url}/readyz`)).status).toBe(200)
    const drained = server.drain(10_000)
    const ready = await fetch(`${url}/readyz`)
    expect([ready.status, await ready.json()]).toMatchObject([503, { detail: 'the server is stopping' }])
    expect((await fetch(`${url}/livez`)).status).toBe(200)
    const refused = await fetch(`${url}/v1/openapi.json`)
    expect(refused.headers.get('connection')).toBe('close')
    expect(refused.headers.get('retry-after')).toBe('1')
    expect(await refused.json()).toMatchObject({ status: 503, code: 'not_ready' })
    finish()
    expect((await answer).status).toBe(200)
    await drained
  })

  test('lets streams say a last word', async () => {
    const server = aServer()
    server.app.get('/stream', (_, reply) => {
      reply.hijack()
      reply.raw.writeHead(200, { 'content-type': 'text/plain' }).write('first')
      const forget = server.app.onDrain(() => reply.raw.end(' bye'))
      reply.raw.once('close', forget)
    })
    const url = await server.listen({ host: '127.0.0.1', port: 0 })
    const stream = await fetch(`${url}/stream`)
    const drained = server.drain(10_000)
    expect(await stream.text()).toBe('first bye')
    await drained
    let isEnded = false
    server.app.onDrain(() => {
      isEnded = true
    })
    expect(isEnded).toBe(true)
  })

  test('does not wait for idle connections that are kept alive', async () => {
    const server = aServer()
    const url = await server.listen({ host: '127.0.0.1', port: 0 })
    const socket = connect(Number(new URL(url).port), '127.0.0.1')
    const closed = once(socket, 'close')
    socket.write('GET /livez HTTP/1.1\r\nHost: x\r\n\r\n')
    await once(socket, 'data')
    await server.drain(60_000)
    await closed
  })

  test('does not wait for connections on which no request has come', async () => {
    const server = aServer()
    const url = await server.listen({ host: '127.0.0.1', port: 0 })
    const accepted = once(server.app.server, 'connection')
    const socket = connect(Number(new URL(url).port), '127.0.0.1')
    const closed = once(socket, 'close')
    await accepted
    await server.drain(3_600_000)
    await closed
  })

  test('cuts off sockets that have left HTTP', async () => {
    const server = aServer()
    const upgraded = new Promise<void>((resolve) => {
      server.app.server.on('upgrade', (_, socket) => {
        socket.write('HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n')
        resolve()
      })
    })
    const url = await server.listen({ host: '127.0.0.1', port: 0 })
    const socket = connect(Number(new URL(url).port), '127.0.0.1')
    const closed = once(socket.resume(), 'close')
    socket.write('GET / HTTP/1.1\r\nHost: x\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n')
    await upgraded
    await server.drain(50)
    await closed
  })

  test('cuts off what does not end in time', async () => {
    const server = aServer()
    const isUnderWay = new Promise<void>((begun) => {
      server.app.get('/stuck', () => {
        begun()
        return new Promise(() => {})
      })
    })
    const url = await server.listen({ host: '127.0.0.1', port: 0 })
    const answer = fetch(`${url}/stuck`).catch(() => 'cut off')
    await isUnderWay
    await server.drain(50)
    expect(await answer).toBe('cut off')
  })
})

test('only hosts of this machine alone may do without a token of somebody’s choice', () => {
  for (const host of ['127.0.0.1', '127.1.2.3', '::1', 'localhost']) requireTokenFor(host, undefined)
  for (const host of ['0.0.0.0', '::', '192.0.2.1', 'localhost.example', '127.0.0.1.example']) {
    expect(isLoopback(host)).toBe(false)
    expect(() => requireTokenFor(host, undefined)).toThrow(host)
    requireTokenFor(host, TOKEN)
  }
})
