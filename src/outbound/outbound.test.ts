import { createServer } from 'node:http'
import { describe, expect, onTestFinished, test } from 'vitest'
import { type Answer, aReceiver } from '../../test/receiver.ts'
import { createOutbound, type OutboundOptions } from './outbound.ts'

function anOutbound(options?: OutboundOptions) {
  const outbound = createOutbound(options)
  onTestFinished(() => outbound.close())
  return outbound
}

const ok: Answer = (response) => response.end('ok')
const pathsOf = (received: readonly { method: string; path: string }[]) =>
  received.map(({ method, path }) => `${method} ${path}`)

describe('the guard', () => {
  test('refuses every way to write an address of this machine', async () => {
    const receiver = await aReceiver(ok)
    const outbound = anOutbound()
    for (const host of [
      '127.0.0.1',
      '127.1',
      '2130706433',
      '0x7f000001',
      '0x7f.1',
      '0177.0.0.1',
      '017700000001',
      '127.0.0.1.',
      '１２７.0.0.1',
      '0',
      '0.0.0.0',
      '[::1]',
      '[::]',
      '[::ffff:127.0.0.1]',
      '[::ffff:7f00:1]',
      '[0:0:0:0:0:ffff:7f00:0001]',
      '[64:ff9b::7f00:1]',
      '[64:ff9b::127.0.0.1]',
      '[2002:7f00:1::]',
      '[::127.0.0.1]',
      'localhost',
      'LOCALHOST',
    ]) {
      const sent = outbound.send(`http://${host}:${receiver.port}/`, {}, 100)
      await expect(sent, host).rejects.toMatchObject({ code: 'address_refused' })
    }
    expect(receiver.received).toEqual([])
  })

  test('refuses other inner addresses before anything is sent', async () => {
    const outbound = anOutbound()
    for (const host of [
      '10.0.0.1',
      '192.168.0.1',
      '169.254.169.254',
      '100.100.100.200',
      '[fd00:ec2::254]',
      '[fe80::1]',
    ])
      await expect(outbound.send(`http://${host}/`, {}, 100), host).rejects.toMatchObject({
        code: 'address_refused',
        remedy: expect.stringContaining('outbound_allow'),
      })
  })

  test('refuses URLs of other kinds', async () => {
    const outbound = anOutbound()
    for (const url of [
      'file:///etc/passwd',
      'ftp://example.org/',
      'gopher://127.0.0.1/',
      'data:text/plain,x',
      'http://user:password@example.org/',
      'http://',
      'example.org',
      `http://example.org/${'x'.repeat(2000)}`,
    ])
      await expect(outbound.send(url, {}, 100), url).rejects.toMatchObject({ code: 'url_refused' })
  })

  test('refuses a name that resolves to an inner address', async () => {
    const receiver = await aReceiver(ok)
    const outbound = anOutbound({ resolve: async () => [{ address: '127.0.0.1', family: 4 }] })
    await expect(outbound.send(`http://example.org:${receiver.port}/`, {}, 100)).rejects.toMatchObject({
      code: 'address_refused',
      message: 'example.org is refused: it resolves to 127.0.0.1, a loopback address',
    })
    expect(receiver.received).toEqual([])
  })

  test('connects to the address it has judged, not to what the name resolves to a moment later', async () => {
    const good = await aReceiver((response) => response.end('the judged one'), '127.0.0.2')
    const bad = createServer((_, response) => response.end('the other one'))
    await new Promise<void>((resolve) => bad.listen(good.port, '127.0.0.1', resolve))
    onTestFinished(() => {
      bad.closeAllConnections()
      bad.close()
    })
    const answers = ['127.0.0.2', '127.0.0.1', '127.0.0.1']
    let asked = 0
    const outbound = anOutbound({
      allow: ['127.0.0.2'],
      resolve: async () => [{ address: answers[asked++] ?? '127.0.0.1', family: 4 }],
    })
    const url = `http://example.org:${good.port}/`
    expect((await outbound.send(url, {}, 100)).body.toString()).toBe('the judged one')
    expect(asked).toBe(1)
    good.server.closeAllConnections()
    await expect(outbound.send(url, {}, 100)).rejects.toMatchObject({ code: 'address_refused' })
  })

  test('takes of several addresses those that are outside or allowed', async () => {
    const receiver = await aReceiver(ok, '127.0.0.2')
    const outbound = anOutbound({
      allow: ['127.0.0.2/32'],
      resolve: async () =>
        ['10.1.1.1', '127.0.0.2', '::1'].map((address) => ({ address, family: address === '::1' ? 6 : 4 })),
    })
    expect((await outbound.send(`http://example.org:${receiver.port}/`, {}, 100)).status).toBe(200)
  })

  test.each([
    ['its name', ['Hooks.Internal'], 'hooks.internal'],
    ['its name, written as an absolute one', ['hooks.internal'], 'hooks.internal.'],
    ['the end of its name', ['*.internal'], 'hooks.internal'],
    ['its address', ['127.0.0.1'], 'hooks.internal'],
    ['a range', ['10.0.0.0/8', '127.0.0.0/8'], 'hooks.internal'],
    ['an address that it is', ['127.0.0.1'], '127.0.0.1'],
    ['an address that it is in disguise', ['127.0.0.1'], '[::ffff:127.0.0.1]'],
  ])('lets a host through that is allowed by %s', async (_, allow, host) => {
    const receiver = await aReceiver(ok)
    const outbound = anOutbound({ allow, resolve: async () => [{ address: '127.0.0.1', family: 4 }] })
    expect((await outbound.send(`http://${host}:${receiver.port}/`, {}, 100)).status).toBe(200)
  })

  test('allows no more than what is named', async () => {
    const outbound = anOutbound({
      allow: ['*.internal', 'inner'],
      resolve: async () => [{ address: '10.0.0.1', family: 4 }],
    })
    for (const host of ['internal', 'notinternal', 'inner.example', 'sub.inner', 'hooks.internal.example'])
      await expect(outbound.send(`http://${host}/`, {}, 100), host).rejects.toMatchObject({ code: 'address_refused' })
  })
})

describe('a request', () => {
  const allow = ['127.0.0.1']

  test('carries method, headers and body, and no more of the answer is read than asked for', async () => {
    const receiver = await aReceiver((response, { headers }) => {
      response.writeHead(418, { 'x-kind': String(headers['x-kind']) })
      // Without end: the client must not wait for it.
      const more = () => {
        while (response.write('x'.repeat(10_000)));
      }
      response.on('drain', more)
      more()
    })
    const answer = await anOutbound({ allow }).send(
      `http://127.0.0.1:${receiver.port}/here?a=1`,
      { method: 'POST', headers: { 'x-kind': 'test' }, body: 'whole' },
      1000,
    )
    expect(receiver.received).toMatchObject([{ method: 'POST', path: '/here?a=1', body: 'whole' }])
    expect(answer).toMatchObject({ status: 418, headers: { 'x-kind': 'test' } })
    expect(answer.body.toString()).toBe('x'.repeat(1000))
  })

  test('does not follow a redirect', async () => {
    const receiver = await aReceiver((response) => response.writeHead(302, { location: '/elsewhere' }).end())
    const answer = await anOutbound({ allow }).send(`http://127.0.0.1:${receiver.port}/`, {}, 100)
    expect(answer.status).toBe(302)
    expect(pathsOf(receiver.received)).toEqual(['GET /'])
  })

  test.each([
    ['nothing', (() => {}) as Answer],
    ['a beginning and no end', ((response) => response.write('begun')) as Answer],
  ])('ends in time when the answer is %s', async (_, listener) => {
    const receiver = await aReceiver(listener)
    const sent = anOutbound({ allow }).send(`http://127.0.0.1:${receiver.port}/`, { limitMs: 100 }, 100)
    await expect(sent).rejects.toMatchObject({ code: 'no_answer', message: expect.stringContaining('took too long') })
  })

  test('that nobody takes says why', async () => {
    const receiver = await aReceiver(ok)
    receiver.server.close()
    const sent = anOutbound({ allow }).send(`http://127.0.0.1:${receiver.port}/`, {}, 100)
    await expect(sent).rejects.toMatchObject({ code: 'no_answer', message: expect.stringContaining('ECONNREFUSED') })
  })

  test('ends when the caller says so', async () => {
    const stop = new AbortController()
    const receiver = await aReceiver(() => stop.abort(new Error('enough')))
    const sent = anOutbound({ allow }).send(`http://127.0.0.1:${receiver.port}/`, { signal: stop.signal }, 100)
    await expect(sent).rejects.toThrow('enough')
  })
})
