import { connect as connectSocket } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import { anEventServer, useEventServer } from '../../test/event-server.ts'
import { waitFor } from '../../test/processes.ts'
import { ADMIN } from '../../test/server.ts'
import { type Talking, talkTo } from '../../test/web-socket.ts'
import { createToken, signInUrl } from '../access/index.ts'
import { defineWorker } from '../engine/index.ts'

const server = useEventServer()
const anything = { '~standard': { version: 1, vendor: 'test', validate: (value: unknown) => ({ value }) } } as const
const worker = defineWorker({ kind: 'test.work', payload: anything, work: async () => 'done' })

const namesOf = (events: { name: string }[]) => events.map(({ name }) => name)
const subscribed = (talking: Talking, id: string) =>
  talking.until((message) => message.type === 'subscribed' && message.id === id)

describe('a client', () => {
  test('is told every change of what it subscribed to in order, until it unsubscribes', async () => {
    const talking = await talkTo(server.url)
    talking.say({ type: 'subscribe', id: 'nodes', scope: 'node' })
    const { position } = await subscribed(talking, 'nodes')
    expect(position).toMatch(/^\d+$/)
    const dispatcher = server.millrace.dispatch([worker])
    const { id } = await server.millrace.add(worker, {}, { scope: 'node', key: 'k' })
    await server.tell('test.told', {}, 'elsewhere')
    const events = await talking.events('nodes', 4)
    await dispatcher.stop()
    expect(events.map(({ name, from, to }) => [name, from, to])).toEqual([
      ['created', null, 'waiting'],
      ['readied', 'waiting', 'ready'],
      ['claimed', 'ready', 'running'],
      ['succeeded', 'running', 'succeeded'],
    ])
    expect(events[0]).toMatchObject({ type: 'event', subscription: 'nodes', task: id, scope: 'node', key: 'k' })

    talking.say({ type: 'unsubscribe', id: 'nodes' })
    await talking.until(({ type }) => type === 'unsubscribed')
    await server.tell('test.unheard', {}, 'node')
    talking.say({ type: 'subscribe', id: 'again', scope: 'node', after: events[3].id })
    expect(namesOf(await talking.events('again', 1))).toEqual(['test.unheard'])
    expect(talking.messages.filter(({ subscription }) => subscription === 'nodes').length).toBe(4)
  })

  test('goes on after the last event it has seen, on another connection', async () => {
    const first = await talkTo(server.url)
    first.say({ type: 'subscribe', id: 'a' })
    await subscribed(first, 'a')
    for (const name of ['test.one', 'test.two', 'test.three']) await server.tell(name)
    const [one] = await first.events('a', 3)
    first.socket.terminate()
    await server.tell('test.four')
    const second = await talkTo(server.url)
    second.say({ type: 'subscribe', id: 'b', after: one.id })
    expect(namesOf(await second.events('b', 3))).toEqual(['test.two', 'test.three', 'test.four'])
  })

  test('has several subscriptions, each with its own events', async () => {
    const talking = await talkTo(server.url)
    talking.say({ type: 'subscribe', id: 'a', scope: ['archive:*', 'other'], topics: 'test.told' })
    talking.say({ type: 'subscribe', id: 'b', scope: 'archive:x' })
    await subscribed(talking, 'b')
    await server.tell('test.told', {}, 'archive:x')
    await server.tell('test.other', {}, 'archive:x')
    await server.tell('test.told', {}, 'other')
    expect((await talking.events('a', 2)).map(({ scope }) => scope)).toEqual(['archive:x', 'other'])
    expect(namesOf(await talking.events('b', 2))).toEqual(['test.told', 'test.other'])
  })

  test('is told that events were missed', async () => {
    const talking = await talkTo(server.url)
    talking.say({ type: 'subscribe', id: 'a', after: '999999999' })
    const reset = await talking.until(({ type }) => type === 'reset')
    expect(reset).toMatchObject({ subscription: 'a', position: expect.stringMatching(/^\d+$/) })
    await server.tell('test.after')
    expect(namesOf(await talking.events('a', 1))).toEqual(['test.after'])
  })

  test('is told how far it has been looked, also when nothing was for it', async () => {
    const server = await anEventServer({ beatMs: 20 })
    const talking = await talkTo(server.url)
    talking.say({ type: 'subscribe', id: 'a', scope: 'nothing' })
    const { position } = await subscribed(talking, 'a')
    await server.tell()
    const moved = await talking.until(({ type }) => type === 'position')
    expect(moved).toEqual({ type: 'position', subscription: 'a', position: String(Number(position) + 1) })
  })

  test('is told what is wrong with a message, and goes on', async () => {
    const talking = await talkTo(server.url)
    for (const [message, code] of [
      ['no json', 'bad_request'],
      ['[]', 'invalid'],
      [{ type: 'dance' }, 'invalid'],
      [{ type: 'subscribe' }, 'invalid'],
      [{ type: 'subscribe', id: 'x', colour: 'red' }, 'invalid'],
      [{ type: 'subscribe', id: 'x', after: 'never' }, 'invalid'],
      [{ type: 'subscribe', id: 'x', task: '99999' }, 'task_not_found'],
      [{ type: 'auth', token: ADMIN }, 'conflict'],
    ] as const) {
      const before = talking.messages.length
      talking.say(message)
      await talking.until((found) => found === talking.messages[before])
      expect(talking.messages[before], JSON.stringify(message)).toMatchObject({ type: 'error', code })
    }
    talking.say({ type: 'subscribe', id: 'x' })
    await subscribed(talking, 'x')
    talking.say({ type: 'subscribe', id: 'x' })
    await talking.until(
      ({ type, code, subscription }) => type === 'error' && code === 'conflict' && subscription === 'x',
    )
    talking.say({ type: 'ping' })
    await talking.until(({ type }) => type === 'pong')
    // What was never there can be left as well.
    talking.say({ type: 'unsubscribe', id: 'nothing' })
    await talking.until(({ type, id }) => type === 'unsubscribed' && id === 'nothing')
  })

  test('has a limited number of subscriptions', async () => {
    const talking = await talkTo(server.url)
    for (let i = 0; i < 100; i += 1) talking.say({ type: 'subscribe', id: `s${i}` })
    talking.say({ type: 'subscribe', id: 'one too many' })
    await talking.until(({ type, code }) => type === 'error' && code === 'rate_limited')
    talking.say({ type: 'unsubscribe', id: 's0' })
    talking.say({ type: 'subscribe', id: 'one too many' })
    await subscribed(talking, 'one too many')
  })

  test('that says too much is sent away', async () => {
    const often = await talkTo(server.url)
    for (let i = 0; i < 200; i += 1) often.say({ type: 'ping' })
    expect(await often.closed).toMatchObject({ code: 1008, reason: expect.stringContaining('messages a second') })
    const long = await talkTo(server.url)
    long.say(`"${'x'.repeat(70_000)}"`)
    expect((await long.closed).code).toBe(1009)
    await waitFor(() => (server.subscriptions() === 0 ? true : undefined))
  })

  test('that has gone leaves nothing behind', async () => {
    const talking = await talkTo(server.url)
    for (const id of ['a', 'b', 'c']) talking.say({ type: 'subscribe', id })
    await subscribed(talking, 'c')
    expect(server.subscriptions()).toBe(3)
    talking.socket.terminate()
    await waitFor(() => (server.subscriptions() === 0 ? true : undefined))
  })

  test('that does not answer is taken for gone', async () => {
    const server = await anEventServer({ beatMs: 20 })
    const talking = await talkTo(server.url)
    talking.say({ type: 'subscribe', id: 'a' })
    await subscribed(talking, 'a')
    talking.socket.pause()
    await waitFor(() => (server.subscriptions() === 0 ? true : undefined))
  })

  test('that reads slowly is held nothing for, and loses nothing', async () => {
    const talking = await talkTo(server.url)
    talking.say({ type: 'subscribe', id: 'a' })
    await subscribed(talking, 'a')
    talking.socket.pause()
    const count = 2_000
    let most = 0
    for (let told = 0; told < count; told += 500) {
      await Promise.all(Array.from({ length: 500 }, () => server.tell('test.told', { text: 'x'.repeat(4_000) })))
      most = Math.max(most, server.heldBytes())
    }
    expect(most).toBeLessThan(1_000_000)
    talking.socket.resume()
    const ids = (await talking.events('a', count)).map(({ id }) => Number(id))
    expect(ids.every((id, i) => i === 0 || id === (ids[i - 1] ?? 0) + 1)).toBe(true)
  })

  test('that replays and does not read is held a little of it', async () => {
    const server = await anEventServer()
    const detail = { text: 'x'.repeat(8_000) }
    await Promise.all(Array.from({ length: 1_000 }, () => server.tell('test.told', detail)))
    const talking = await talkTo(server.url)
    talking.socket.pause()
    talking.say({ type: 'subscribe', id: 'a', after: 'oldest' })
    await waitFor(() => (server.heldBytes() > 0 ? true : undefined))
    // 8 MB are in the first batch.
    expect(server.heldBytes()).toBeLessThan(1_000_000)
    talking.socket.resume()
    await talking.events('a', 1_000)
  })

  test('is told when the server stops', async () => {
    const server = await anEventServer()
    const talking = await talkTo(server.url)
    await server.stop()
    expect(await talking.closed).toEqual({ code: 1001, reason: 'the server is stopping' })
    expect(talking.messages).toEqual([{ type: 'bye', reason: 'the server is stopping' }])
  })
})

describe('who may come in', () => {
  test('a good token in the header, and none that is wrong', async () => {
    await talkTo(server.url)
    await expect(talkTo(server.url, { token: 'wrong' })).rejects.toThrow('401 unauthorized')
  })

  test('who says it in the first message', async () => {
    const talking = await talkTo(server.url, { token: null })
    talking.say({ type: 'auth', token: ADMIN })
    await talking.until(({ type }) => type === 'authenticated')
    talking.say({ type: 'subscribe', id: 'a' })
    await subscribed(talking, 'a')
    const wrong = await talkTo(server.url, { token: null })
    wrong.say({ type: 'auth', token: 'wrong' })
    expect((await wrong.closed).code).toBe(4401)
    const silent = await talkTo(server.url, { token: null })
    silent.say({ type: 'subscribe', id: 'a' })
    expect((await silent.closed).code).toBe(4401)
    expect(silent.messages).toMatchObject([{ type: 'error', code: 'unauthorized' }])
  })

  test('a signed-in browser on a page of this server alone', async () => {
    const by = { name: 'admin', role: 'admin', limit: null, via: 'token' } as const
    const link = signInUrl(server.url, await server.access.createSignInLink({ by }))
    const answer = await fetch(`${server.url}/v1/sign-in`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ secret: link.split('#')[1] }),
    })
    const cookie = answer.headers.get('set-cookie')?.split(';')[0] ?? ''
    const talking = await talkTo(server.url, { token: null, headers: { cookie, origin: server.url } })
    talking.say({ type: 'subscribe', id: 'a' })
    await subscribed(talking, 'a')
    for (const headers of [{ cookie, origin: 'https://elsewhere.example' }, { cookie, origin: 'null' }, { cookie }]) {
      await expect(talkTo(server.url, { token: null, headers })).rejects.toThrow('403 cross_site')
    }
  })

  test('a token of one task, to that task alone', async () => {
    const { id } = await server.millrace.add(worker, {}, {})
    const other = await server.millrace.add(worker, {}, {})
    const made = (limit: { to: 'task' | 'archive'; name: string }) =>
      createToken(server.pool, { name: `t${limit.to}`, role: null, limit, expiresAt: null, actor: 'test' })
    const talking = await talkTo(server.url, { token: (await made({ to: 'task', name: id })).secret })
    talking.say({ type: 'subscribe', id: 'a', after: 'oldest' })
    talking.say({ type: 'subscribe', id: 'b', task: other.id })
    await talking.until(({ code, subscription }) => code === 'forbidden' && subscription === 'b')
    await server.millrace.hold([other.id, id])
    const events = await talking.events('a', 3)
    expect(new Set(events.map(({ task }) => task))).toEqual(new Set([id]))
    const archive = (await made({ to: 'archive', name: 'a' })).secret
    await expect(talkTo(server.url, { token: archive })).rejects.toThrow('403 forbidden')
  })

  test('a revoked token no longer', async () => {
    const server = await anEventServer({ beatMs: 20 })
    const made = await createToken(server.pool, {
      name: 'short',
      role: 'viewer',
      limit: null,
      expiresAt: null,
      actor: 'test',
    })
    const talking = await talkTo(server.url, { token: null })
    talking.say({ type: 'auth', token: made.secret })
    await talking.until(({ type }) => type === 'authenticated')
    await server.access.revokeToken({ id: made.id, actor: 'test' })
    expect(await talking.closed).toEqual({ code: 4401, reason: 'the token or session has ended' })
  })
})

describe('a request', () => {
  const raw = async (url: string, request: string): Promise<string> => {
    const { port } = new URL(url)
    const socket = connectSocket(Number(port), '127.0.0.1')
    onTestFinished(() => void socket.destroy())
    let text = ''
    socket.on('data', (piece) => {
      text += piece
    })
    socket.write(request)
    await waitFor(() => (/\r\n\r\n[\s\S]+/.test(text) ? true : undefined))
    return text
  }

  test('without an upgrade is told what is missing', async () => {
    const answer = await fetch(`${server.url}/v1/ws`)
    expect(answer.status).toBe(426)
    expect(await answer.json()).toMatchObject({ code: 'upgrade_required' })
  })

  test('for a WebSocket elsewhere is a 404 like any other', async () => {
    const answer = await raw(
      server.url,
      'GET /v1/other HTTP/1.1\r\nhost: here\r\nconnection: Upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n',
    )
    expect(answer).toMatch(/^HTTP\/1\.1 404 [\s\S]*"code":"not_found"/)
  })

  test('that offers HTTP/2 in passing is answered as if it did not', async () => {
    const offer = 'connection: Upgrade, HTTP2-Settings\r\nupgrade: h2c\r\nhttp2-settings: AAMAAABkAAQAAP__\r\n'
    const get = await raw(server.url, `GET /livez HTTP/1.1\r\nhost: here\r\n${offer}\r\n`)
    expect(get).toMatch(/^HTTP\/1\.1 200 [\s\S]*\r\n\r\nok$/)
    const body = JSON.stringify({ secret: 'wrong' })
    const post = await raw(
      server.url,
      `POST /v1/sign-in HTTP/1.1\r\nhost: here\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n${offer}\r\n${body}`,
    )
    expect(post).toMatch(/^HTTP\/1\.1 401 [\s\S]*"code":"sign_in_refused"/)
  })
})
