import { expect, test } from 'vitest'
import { anApp, type TestApp } from '../../test/app.ts'
import { aServer, type Question, type TestServer, useServer } from '../../test/server.ts'

type Asking = Pick<TestServer | TestApp, 'ask' | 'url'>

const secretOf = (url: string) => url.split('#')[1] ?? ''

async function signIn(server: Asking, body: object = {}, headers: Record<string, string> = {}) {
  const link = await server.ask('POST', '/v1/sign-in-links', { body, headers })
  const signedIn = await server.ask('POST', '/v1/sign-in', {
    token: null,
    headers,
    body: { secret: secretOf(link.json.url) },
  })
  expect(signedIn.status).toBe(204)
  const setCookie = signedIn.headers.get('set-cookie') ?? ''
  return { setCookie, cookie: setCookie.split(';')[0] ?? '', link }
}

const asBrowser = (cookie: string, more: Record<string, string> = {}) => ({
  token: null,
  headers: { cookie: `other=1; ${cookie}`, 'sec-fetch-site': 'same-origin', ...more },
})

const server = useServer()

test('a link of the server opens a session of its maker', async () => {
  const { cookie, setCookie, link } = await signIn(server)
  expect(link.status).toBe(201)
  expect(link.json.url).toMatch(`${server.url}/sign-in#`)
  expect(setCookie).toMatch(/^millrace_session_\d+=[\w-]{43}; Path=\/; Expires=.*; HttpOnly; SameSite=Strict$/)
  const { json } = await server.ask('GET', '/v1/me', asBrowser(cookie))
  expect(json).toMatchObject({ name: 'admin', role: 'admin', via: 'session', until: expect.any(String) })
})

test('a link works once, on whichever server, and a session on all of them, also after a restart', async () => {
  await using first = await aServer({ on: server.database })
  const { json } = await first.ask('POST', '/v1/sign-in-links')
  const body = { secret: secretOf(json.url) }
  const answers = await Promise.all(
    [first, server, first, server].map((one) => one.ask('POST', '/v1/sign-in', { token: null, body })),
  )
  const [opened, ...others] = answers.toSorted((a, b) => a.status - b.status)
  expect(others.map((reply) => reply.json.code)).toEqual(Array(3).fill('sign_in_refused'))
  const cookie = (opened?.headers.get('set-cookie') ?? '').split(';')[0] ?? ''
  await first.stop()
  await using next = await aServer({ on: server.database })
  for (const one of [server, next]) {
    expect((await one.ask('GET', '/v1/me', asBrowser(cookie))).json).toMatchObject({ via: 'session' })
  }
})

test('only an administrator says who somebody is: others can neither act nor sign out as whom they name', async () => {
  const ada = await signIn(server, { name: 'ada' })
  const { json } = await server.ask('POST', '/v1/tokens', { body: { name: 'eve', role: 'viewer' } })
  const asEve = {
    ask: (method: string, path: string, of: Question = {}) => server.ask(method, path, { token: json.secret, ...of }),
    url: server.url,
  }
  const falseAda = await signIn(asEve, { name: 'ada' })
  const me = await server.ask('GET', '/v1/me', asBrowser(falseAda.cookie))
  expect(me.json).toMatchObject({ name: 'user:ada (of token:eve)', role: 'viewer' })
  const handedOn = await server.ask('POST', '/v1/sign-in-links', {
    ...asBrowser(falseAda.cookie),
    body: { name: 'bob' },
  })
  const body = { secret: secretOf(handedOn.json.url) }
  const opened = await server.ask('POST', '/v1/sign-in', { token: null, body })
  const cookie = (opened.headers.get('set-cookie') ?? '').split(';')[0] ?? ''
  expect((await server.ask('GET', '/v1/me', asBrowser(cookie))).json).toMatchObject({ name: 'user:bob (of token:eve)' })
  await server.ask('POST', '/v1/sign-out', { ...asBrowser(falseAda.cookie), body: { everywhere: true } })
  expect((await server.ask('GET', '/v1/me', asBrowser(ada.cookie))).json).toMatchObject({
    name: 'user:ada',
    role: 'admin',
  })
})

test('a link lets in under a name and with a role that is not above its maker’s', async () => {
  const { cookie } = await signIn(server, { role: 'operator', name: 'ada' })
  expect((await server.ask('GET', '/v1/me', asBrowser(cookie))).json).toMatchObject({
    name: 'user:ada',
    role: 'operator',
  })
  const asked = { ...asBrowser(cookie), body: { role: 'admin' } }
  expect((await server.ask('POST', '/v1/sign-in-links', asked)).json).toMatchObject({ status: 403, code: 'forbidden' })
})

test('a wrong secret is refused and sets no cookie', async () => {
  for (const secret of ['wrong', 'x'.repeat(43), 'x'.repeat(200)]) {
    const reply = await server.ask('POST', '/v1/sign-in', { token: null, body: { secret } })
    expect(reply.json).toMatchObject({ status: 401, code: 'sign_in_refused' })
    expect(reply.headers.get('set-cookie')).toBeNull()
  }
})

test('servers on two ports of one host do not sign each other’s people out', async () => {
  await using other = await aServer()
  const [first, second] = [await signIn(server), await signIn(other)]
  // As a browser sends them, which knows of no ports.
  const both = asBrowser(`${first.cookie}; ${second.cookie}`)
  for (const one of [server, other]) expect((await one.ask('GET', '/v1/me', both)).status).toBe(200)
  await server.ask('POST', '/v1/sign-out', both)
  expect((await server.ask('GET', '/v1/me', both)).status).toBe(401)
  expect((await other.ask('GET', '/v1/me', both)).status).toBe(200)
})

test('signing out ends the session everywhere and takes the cookie away', async () => {
  const [mine, other] = [await signIn(server), await signIn(server)]
  const out = await server.ask('POST', '/v1/sign-out', asBrowser(mine.cookie))
  expect(out.status).toBe(204)
  expect(out.headers.get('set-cookie')).toMatch(/^millrace_session_\d+=; Max-Age=0; Path=\/;/)
  expect((await server.ask('GET', '/v1/me', asBrowser(mine.cookie))).status).toBe(401)
  expect((await server.ask('GET', '/v1/me', asBrowser(other.cookie))).status).toBe(200)
  await server.ask('POST', '/v1/sign-out', { body: { everywhere: true } })
  expect((await server.ask('GET', '/v1/me', asBrowser(other.cookie))).status).toBe(401)
})

test('a page of another site cannot act through the session of a browser', async () => {
  const { cookie } = await signIn(server)
  const own = new URL(server.url)
  const act = (headers: Record<string, string>) =>
    server.ask('POST', '/v1/sign-in-links', { token: null, headers: { cookie, ...headers } })
  const foreign: Record<string, string>[] = [
    {},
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
    { 'sec-fetch-site': 'none' },
    { 'sec-fetch-site': 'cross-site', origin: own.origin },
    { origin: 'null' },
    { origin: 'https://elsewhere.example' },
    { origin: `http://${own.hostname}:1` },
    { origin: `${own.origin}.elsewhere.example` },
  ]
  for (const headers of foreign) {
    expect((await act(headers)).json, JSON.stringify(headers)).toMatchObject({ status: 403, code: 'cross_site' })
  }
  for (const headers of [{ 'sec-fetch-site': 'same-origin' }, { origin: own.origin }]) {
    expect((await act(headers as Record<string, string>)).status).toBe(201)
  }
})

test('reading with a session needs no origin, and a token never does', async () => {
  const { cookie } = await signIn(server)
  expect((await server.ask('GET', '/v1/me', { token: null, headers: { cookie } })).status).toBe(200)
  const headers = { cookie, origin: 'https://elsewhere.example', 'sec-fetch-site': 'cross-site' }
  expect((await server.ask('POST', '/v1/sign-in-links', { headers })).status).toBe(201)
})

test('a session cannot open a WebSocket from another site', async () => {
  const { cookie } = await signIn(server)
  const { request } = await import('node:http')
  const status = await new Promise((resolve, reject) => {
    const headers = { cookie, upgrade: 'websocket', connection: 'upgrade', origin: 'https://elsewhere.example' }
    request(`${server.url}/v1/me`, { headers }, (response) => resolve(response.statusCode))
      .on('error', reject)
      .end()
  })
  expect(status).toBe(403)
})

test('another site’s page cannot sign anybody in', async () => {
  const { json } = await server.ask('POST', '/v1/sign-in-links')
  const body = { secret: secretOf(json.url) }
  const headers = { 'sec-fetch-site': 'cross-site' }
  const refused = await server.ask('POST', '/v1/sign-in', { token: null, body, headers })
  expect(refused.json).toMatchObject({ code: 'cross_site' })
  expect((await server.ask('POST', '/v1/sign-in', { token: null, body })).status).toBe(204)
})

const forwarded = { 'x-forwarded-proto': 'https', 'x-forwarded-host': 'millrace.example' }

test('behind a trusted proxy that speaks https the cookie is secure and bound to the host', async () => {
  await using server = await anApp({ trustProxy: 'loopback' })
  const { setCookie, cookie, link } = await signIn(server, {}, forwarded)
  expect(link.json.url).toMatch(/^https:\/\/millrace\.example\/sign-in#/)
  expect(setCookie).toMatch(/^__Host-millrace_session=[\w-]{43}; Path=\/; .*HttpOnly; Secure; SameSite=Strict$/)
  const { json } = await server.ask('GET', '/v1/me', asBrowser(cookie, forwarded))
  expect(json).toMatchObject({ via: 'session' })
  // A cookie without the prefix may have been set by anybody beside the host.
  const bare = asBrowser(cookie.replace('__Host-', ''), forwarded)
  expect((await server.ask('GET', '/v1/me', bare)).status).toBe(401)
  const { 'sec-fetch-site': _, ...headers } = {
    ...asBrowser(cookie, forwarded).headers,
    origin: 'http://millrace.example',
  }
  expect((await server.ask('POST', '/v1/sign-out', { token: null, headers })).json).toMatchObject({
    code: 'cross_site',
  })
})

test('nobody’s word about https or the host is taken unless a proxy is trusted', async () => {
  await using server = await anApp()
  const { setCookie, link } = await signIn(server, {}, forwarded)
  expect(link.json.url).toMatch(server.url)
  expect(setCookie).toMatch(/^millrace_session_\d+=/)
  expect(setCookie).not.toMatch('Secure')
})
