import { connect as connectSocket } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { anEventServer, useEventServer } from '../../test/event-server.ts'
import { listenTo } from '../../test/events.ts'
import { waitFor } from '../../test/processes.ts'
import { ADMIN } from '../../test/server.ts'
import { aTaskServer, type TaskServer, useTaskServer } from '../../test/task-server.ts'
import { defineWorker, publish } from '../engine/index.ts'

const worker = defineWorker({ kind: 'test.work', payload: z.object({}), work: async () => 'done' })

const common = useTaskServer()
const eventServer = useEventServer()

const eventsOf = (server: TaskServer) => ({
  ask: (...asked: Parameters<TaskServer['ask']>) => server.ask(...asked),
  stop: () => server.stop(),
  millrace: server.millrace,
  pool: server.database.pool,
  stream: `${server.url}/v1/events`,
  tell: (name: string, scope = 'test') => publish(server.database.pool, { name, scope }),
})

/** For what looks at all events that are kept, and for what ends the server. */
async function aServerOfItsOwn() {
  const server = await aTaskServer()
  onTestFinished(() => server[Symbol.asyncDispose]())
  return eventsOf(server)
}

const namesOf = (events: { name: string }[]) => events.map(({ name }) => name)

describe('a stream', () => {
  test('tells every change of a task in order', async () => {
    const server = eventsOf(common)
    const listening = await listenTo(`${server.stream}?scope=node`)
    expect(listening.response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
    expect(listening.response.headers.get('x-accel-buffering')).toBe('no')
    const hello = await listening.until(({ event }) => event === 'hello')
    expect(hello.id).toBe(hello.json.position)
    const dispatcher = server.millrace.dispatch([worker])
    const { id } = await server.millrace.add(worker, {}, { scope: 'node', key: 'k', actor: 'someone' })
    await listening.until(({ json }) => json.name === 'succeeded')
    await dispatcher.stop()
    const events = listening.events()
    expect(events.map(({ name, from, to }) => [name, from, to])).toEqual([
      ['created', null, 'waiting'],
      ['readied', 'waiting', 'ready'],
      ['claimed', 'ready', 'running'],
      ['succeeded', 'running', 'succeeded'],
    ])
    expect(events[0]).toMatchObject({ task: id, scope: 'node', key: 'k', kind: 'test.work', actor: 'someone' })
    const ids = listening.told.map((told) => Number(told.id))
    expect(ids).toEqual([...new Set(ids)].toSorted((a, b) => a - b))
  })

  test('goes on after the last event that the client has seen', async () => {
    const server = await aServerOfItsOwn()
    const first = await listenTo(server.stream)
    await server.tell('test.one')
    await server.tell('test.two')
    const [one, two] = await first.count(2)
    first.close()
    await server.tell('test.three')
    const second = await listenTo(server.stream, { lastEventId: two.id })
    await server.tell('test.four')
    expect(namesOf(await second.count(2))).toEqual(['test.three', 'test.four'])
    const byQuery = await listenTo(`${server.stream}?after=${one.id}`)
    expect(namesOf(await byQuery.count(3))).toEqual(['test.two', 'test.three', 'test.four'])
    // A browser that connects again still has the old query, and the header is what it has seen since.
    const both = await listenTo(`${server.stream}?after=${one.id}`, { lastEventId: two.id })
    expect(namesOf(await both.count(2))).toEqual(['test.three', 'test.four'])
    const oldest = await listenTo(`${server.stream}?after=oldest`)
    expect(namesOf(await oldest.count(4))).toEqual(['test.one', 'test.two', 'test.three', 'test.four'])
  })

  test('goes on from its hello when nothing else had come', async () => {
    const server = eventsOf(common)
    const first = await listenTo(server.stream)
    const hello = await first.until(({ event }) => event === 'hello')
    first.close()
    await server.tell('test.meanwhile')
    const second = await listenTo(server.stream, { lastEventId: hello.id ?? '' })
    expect(namesOf(await second.count(1))).toEqual(['test.meanwhile'])
  })

  test('does not pass over what commits late', async () => {
    const server = eventsOf(common)
    const listening = await listenTo(server.stream)
    const late = await server.pool.connect()
    try {
      await late.query('begin')
      await publish(late, { name: 'test.late', scope: 'test' })
      await server.tell('test.early')
      expect(namesOf(await listening.count(1))).toEqual(['test.early'])
      await late.query('commit')
    } finally {
      late.release()
    }
    const events = await listening.count(2)
    expect(namesOf(events)).toEqual(['test.early', 'test.late'])
    const again = await listenTo(`${server.stream}?after=${events[0].id}`)
    expect(namesOf(await again.count(1))).toEqual(['test.late'])
  })

  test.each([
    ['scope=node', ['node']],
    ['scope=archive:*', ['archive:a', 'archive:b']],
    ['scope=node,archive:a', ['node', 'archive:a']],
    ['scope=node&scope=archive:b', ['node', 'archive:b']],
    ['scope=archive:*,node&topics=test.told', ['node', 'archive:a', 'archive:b']],
    ['topics=test.last', []],
  ])('with ?%s tells of %j', async (query, scopes) => {
    const server = eventsOf(common)
    const listening = await listenTo(`${server.stream}?${query}`)
    const hello = await listening.until(({ event }) => event === 'hello')
    for (const scope of ['node', 'archive:a', 'archive:b', 'nodes', 'archive']) await server.tell('test.told', scope)
    // Met by every query of this test, it ends what is waited for.
    for (const scope of ['node', 'archive:b']) await server.tell('test.last', scope)
    const all = await listenTo(`${server.stream}?after=${hello.id}`)
    await all.count(7)
    if (query.includes('topics=test.told')) {
      expect((await listening.count(3)).map(({ scope }) => scope)).toEqual(scopes)
      return
    }
    await listening.until(({ json }) => json.name === 'test.last')
    const told = listening.events().filter(({ name }) => name === 'test.told')
    expect(told.map(({ scope }) => scope)).toEqual(scopes)
  })

  test('of one task is asked for by number or natural key', async () => {
    const server = eventsOf(common)
    const options = { scope: 'archive:My-Project', key: '12:index' }
    const { id } = await server.millrace.add(worker, {}, options)
    const other = await server.millrace.add(worker, {}, {})
    const streams = await Promise.all(
      [id, 'My-Project@12:index', `${id},${id}`].map((task) => listenTo(`${server.stream}?task=${task}`)),
    )
    await server.millrace.hold(other.id)
    await server.millrace.hold(id)
    for (const stream of streams) {
      await stream.until(({ json }) => json.name === 'held')
      expect(new Set(stream.events().map(({ task }) => task))).toEqual(new Set([id]))
    }
    const unknown = await server.ask('GET', '/v1/events?task=99999')
    expect(unknown.json).toMatchObject({ code: 'task_not_found' })
  })

  test.each([
    ['that is not kept any more', '0'],
    ['of another database', '999999999'],
    ['that nobody gave', 'what-is-this'],
  ])('from a position %s begins with a reset and goes on from there', async (_, lastEventId) => {
    const server = await aServerOfItsOwn()
    await server.tell('test.lost')
    const before = await listenTo(`${server.stream}?after=oldest`)
    await before.count(1)
    await server.tell('test.kept')
    await before.count(2)
    await server.pool.query(
      'delete from millrace.outbox_page where first < (select max(first) from millrace.outbox_page)',
    )
    const listening = await listenTo(server.stream, { lastEventId })
    const reset = await listening.until(({ event }) => event === 'reset')
    expect(reset.id).toBe(reset.json.position)
    await server.tell('test.after')
    expect(namesOf(await listening.count(1))).toEqual(['test.after'])
    expect(listening.told.map(({ event }) => event)).toEqual(['hello', 'reset', undefined])
  })

  test('ends with a word when the server stops', async () => {
    const server = await aServerOfItsOwn()
    const listening = await listenTo(server.stream)
    await listening.until(({ event }) => event === 'hello')
    await server.stop()
    expect(await listening.ended).toBe(true)
    expect(listening.told.at(-1)).toMatchObject({ event: 'bye', json: { reason: 'the server is stopping' } })
  })

  test('is kept open by beats, which move the client’s place past what it did not ask for', async () => {
    const server = await anEventServer({ beatMs: 20 })
    const listening = await listenTo(`${server.url}/v1/events?scope=nothing`)
    const hello = await listening.until(({ event }) => event === 'hello')
    for (let i = 0; i < 3; i += 1) await server.tell()
    const moved = `id: ${Number(hello.json.position) + 3}\n\n`
    await waitFor(() => (listening.text().includes(moved) ? true : undefined))
    expect(listening.comments).toContain('beat')
    expect(listening.events()).toEqual([])
    const again = await listenTo(`${server.url}/v1/events`, { lastEventId: String(Number(hello.json.position) + 3) })
    await server.tell('test.next')
    expect(namesOf(await again.count(1))).toEqual(['test.next'])
  })

  test('that is left frees everything', async () => {
    const server = eventServer
    const streams = await Promise.all(Array.from({ length: 10 }, () => listenTo(`${server.url}/v1/events`)))
    await Promise.all(streams.map((stream) => stream.until(({ event }) => event === 'hello')))
    expect(server.subscriptions()).toBe(10)
    for (const stream of streams) stream.close()
    await waitFor(() => (server.subscriptions() === 0 ? true : undefined))
  })

  test('of a slow reader holds nothing for it, and loses nothing', async () => {
    const server = eventServer
    const { port } = new URL(server.url)
    const slow = connectSocket(Number(port), '127.0.0.1')
    onTestFinished(() => void slow.destroy())
    slow.pause()
    slow.write(`GET /v1/events HTTP/1.1\r\nhost: here\r\nauthorization: Bearer ${ADMIN}\r\n\r\n`)
    const quick = await listenTo(`${server.url}/v1/events`)
    await waitFor(() => (server.subscriptions() === 2 ? true : undefined))
    const count = 3_000
    const detail = { text: 'x'.repeat(4_000) }
    let most = 0
    for (let told = 0; told < count; told += 500) {
      await Promise.all(Array.from({ length: 500 }, () => server.tell('test.told', detail)))
      most = Math.max(most, server.heldBytes())
    }
    await quick.count(count)
    // 12 MB were told; beside one piece of 64 KiB only what the system itself takes is on its way.
    expect(Math.max(most, server.heldBytes())).toBeLessThan(1_000_000)
    let text = ''
    slow.on('data', (piece) => {
      text += piece
    })
    slow.resume()
    const isWhole = () => (text.split('\nid: ').length > count ? true : undefined)
    await waitFor(isWhole)
    const ids = [...text.matchAll(/^id: (\d+)\ndata: \{"id":"\1"/gm)].map(([, id]) => Number(id))
    expect(ids.length).toBe(count)
    expect(ids.every((id, i) => i === 0 || id === (ids[i - 1] ?? 0) + 1)).toBe(true)
  })

  test('is one of a thousand, and each is told', async () => {
    const server = eventServer
    const { port } = new URL(server.url)
    const count = 1_000
    let greeted = 0
    let told = 0
    const sockets = Array.from({ length: count }, () => {
      const socket = connectSocket(Number(port), '127.0.0.1')
      let text = ''
      socket.on('data', (piece) => {
        const before = text
        text += piece
        if (!before.includes('event: hello') && text.includes('event: hello')) greeted += 1
        if (!before.includes('test.told') && text.includes('test.told')) told += 1
      })
      socket.write(`GET /v1/events HTTP/1.1\r\nhost: here\r\nauthorization: Bearer ${ADMIN}\r\n\r\n`)
      return socket
    })
    onTestFinished(() => {
      for (const socket of sockets) socket.destroy()
    })
    await waitFor(() => (greeted === count ? true : undefined))
    await server.tell()
    await waitFor(() => (told === count ? true : undefined))
    for (const socket of sockets) socket.destroy()
    await waitFor(() => (server.subscriptions() === 0 ? true : undefined))
  })
})

describe('a page', () => {
  const asJson = { headers: { accept: 'application/json' } }

  test('is answered to those who ask for JSON', async () => {
    const server = await aServerOfItsOwn()
    for (const name of ['test.one', 'test.two', 'test.three']) await server.tell(name)
    const first = await server.ask('GET', '/v1/events?limit=2', asJson)
    expect(namesOf(first.json.items)).toEqual(['test.one', 'test.two'])
    expect(first.json.next_cursor).toBe(first.json.items[1].id)
    const second = await server.ask('GET', `/v1/events?limit=2&after=${first.json.next_cursor}`, asJson)
    expect(namesOf(second.json.items)).toEqual(['test.three'])
    expect(second.json.next_cursor).toBeNull()
    await server.tell('test.four')
    const later = await server.ask('GET', `/v1/events?after=${second.json.position}`, asJson)
    expect(namesOf(later.json.items)).toEqual(['test.four'])
    const filtered = await server.ask('GET', '/v1/events?topics=test.two,test.four&scope=a,test', asJson)
    expect(namesOf(filtered.json.items)).toEqual(['test.two', 'test.four'])
  })

  test('after the newest is empty and says where that is', async () => {
    const server = eventsOf(common)
    await server.tell('test.before')
    const now = await server.ask('GET', '/v1/events?after=newest', asJson)
    expect(now.json).toMatchObject({ items: [], next_cursor: null })
    await server.tell('test.after')
    const later = await server.ask('GET', `/v1/events?after=${now.json.position}`, asJson)
    expect(namesOf(later.json.items)).toEqual(['test.after'])
  })

  test('after what is not kept any more is a 410', async () => {
    const server = eventsOf(common)
    const gone = await server.ask('GET', '/v1/events?after=999999999', asJson)
    expect(gone.json).toMatchObject({ status: 410, code: 'position_gone' })
  })

  test('with a wrong parameter is refused', async () => {
    const server = eventsOf(common)
    for (const query of [
      'after=-1',
      'after=x',
      'scope=',
      'topics=,',
      `scope=${'a,'.repeat(60)}`,
      'colour=red',
      'limit=0',
    ]) {
      const { json } = await server.ask('GET', `/v1/events?${query}`, asJson)
      // Repeats of one scope are one.
      if (query.startsWith('scope=a')) expect(json.items).toEqual([])
      else expect(json, query).toMatchObject({ code: 'invalid' })
    }
  })
})

describe('who may listen', () => {
  const tokenFor = async (server: ReturnType<typeof eventsOf>, body: object) =>
    (await server.ask('POST', '/v1/tokens', { body: { name: `t${Math.random()}`, ...body } })).json.secret as string

  test('nobody without a token, and a viewer to everything', async () => {
    const server = eventsOf(common)
    for (const token of [null, 'wrong']) {
      const { json } = await server.ask('GET', '/v1/events', { token })
      expect(json).toMatchObject({ status: 401 })
    }
    const listening = await listenTo(server.stream, { token: await tokenFor(server, { role: 'viewer' }) })
    await server.tell('test.told')
    await listening.count(1)
  })

  test('a token of one task to that task alone', async () => {
    const server = eventsOf(common)
    const { id } = await server.millrace.add(worker, {}, {})
    const other = await server.millrace.add(worker, {}, {})
    const token = await tokenFor(server, { limit: { to: 'task', name: id } })
    const listening = await listenTo(server.stream, { token })
    await server.tell('test.told')
    await server.millrace.hold(other.id)
    await server.millrace.hold(id)
    await listening.until(({ json }) => json.name === 'held')
    expect(new Set(listening.events().map(({ task }) => task))).toEqual(new Set([id]))
    const refused = await server.ask('GET', `/v1/events?task=${other.id}`, { token })
    expect(refused.json).toMatchObject({ status: 403, code: 'forbidden' })
    const archive = await tokenFor(server, { limit: { to: 'archive', name: 'a' } })
    expect((await server.ask('GET', '/v1/events', { token: archive })).json).toMatchObject({ status: 403 })
  })

  test('a token of one node to that node alone', async () => {
    const server = eventsOf(common)
    const { id } = await server.millrace.add(worker, {}, { scope: 'node', key: '7' })
    const other = await server.millrace.add(worker, {}, { scope: 'node', key: '8' })
    const listening = await listenTo(`${server.stream}?scope=node`, {
      token: await tokenFor(server, { limit: { to: 'node', name: '7' } }),
    })
    await server.millrace.hold([other.id, id])
    await listening.until(({ json }) => json.name === 'held')
    expect(new Set(listening.events().map(({ key }) => key))).toEqual(new Set(['7']))
    expect(listening.events().at(-1)).toMatchObject({ task: id })
  })

  test('a revoked token no longer', async () => {
    const server = await anEventServer({ beatMs: 20 })
    const { createToken } = await import('../access/index.ts')
    const made = await createToken(server.pool, {
      name: 'short',
      role: 'viewer',
      limit: null,
      expiresAt: null,
      actor: 'test',
    })
    const listening = await listenTo(`${server.url}/v1/events`, { token: made.secret })
    await listening.until(({ event }) => event === 'hello')
    await server.access.revokeToken({ id: made.id, actor: 'test' })
    expect(await listening.ended).toBe(true)
    expect(listening.told.at(-1)).toMatchObject({ event: 'bye', json: { reason: 'the token or session has ended' } })
  })
})
