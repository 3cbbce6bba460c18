import { describe, expect, test } from 'vitest'
import { below, command, shell, sleeping, useNodes } from '../../test/nodes.ts'
import { waitFor } from '../../test/processes.ts'

const nodes = useNodes()

/** A node that has ended, with data of its own. */
const aNode = async (data: Record<string, unknown> = {}) => {
  const [node] = await nodes.run(below('root', sleeping(0), { data }))
  return node.metadata.id as string
}
const put = (id: string, key: string, value: unknown, query = '') =>
  nodes.ask('PUT', `/v1/nodes/${id}/data/${key}${query}`, { body: { value } })
const read = async (id: string, key: string, query = '') =>
  (await nodes.ask('GET', `/v1/nodes/${id}/data/${key}${query}`)).json

/** All pieces of a text, each with where it ended. */
async function readAll(id: string, key: string, limit: number): Promise<string[]> {
  const pieces: string[] = []
  let at = ''
  for (;;) {
    const { data, pagination } = await read(id, key, `?limit=${limit}${at}`)
    pieces.push(data)
    if (pagination === undefined) return pieces
    at = `&start=${pagination.next}&pid=${pagination.pid}`
  }
}

describe('T5: keys', () => {
  test('the keys are what was given and what the server wrote', async () => {
    const [node] = await nodes.run(below('root', command('true'), { data: { own: 1, run_if: 'always' } }))
    const { json } = await nodes.ask('GET', `/v1/nodes/${node.metadata.id}/data`)
    expect(json).toEqual({ keys: ['command', 'mixedout', 'own', 'result', 'run_if', 'stderr', 'stdout'] })
  })

  test('many keys come in pages', async () => {
    const data = Object.fromEntries(Array.from({ length: 25 }, (_, i) => [`key-${String(i).padStart(2, '0')}`, i]))
    const id = await aNode(data)
    const keys: string[] = []
    let at = ''
    for (;;) {
      const { json } = await nodes.ask('GET', `/v1/nodes/${id}/data?limit=10${at}`)
      keys.push(...json.keys)
      if (json.pagination === undefined) break
      at = `&start=${encodeURIComponent(json.pagination.next)}&pagid=${json.pagination.pid}`
    }
    expect(keys).toEqual([...Object.keys(data), 'result', 'seconds'])
    expect((await nodes.ask('GET', `/v1/nodes/${id}/data?start=key-03`)).status).toBe(400)
    expect((await nodes.ask('GET', `/v1/nodes/${id}/data?start=key-03&pid=k0`)).status).toBe(410)
  })

  test.each(['__proto__', 'constructor', 'toString', 'hasOwnProperty'])('%s is a key like any other', async (key) => {
    const value = JSON.parse(`{"${key}":[{"${key}":1}]}`)
    const [id, running, other] = (await nodes.add(
      below('root', sleeping(0), { data: JSON.parse(`{"seconds":0,"${key}":{"${key}":1}}`) }),
      sleeping(3600),
      below('#1', sleeping(0)),
    )) as [string, string, string]
    expect(await read(id, key)).toEqual({ key, data: JSON.parse(`{"${key}":1}`) })
    expect((await put(id, key, value)).status).toBe(200)
    expect(JSON.stringify((await read(id, key)).data)).toBe(JSON.stringify(value))
    expect((await nodes.ask('GET', `/v1/nodes/${id}/data`)).json.keys).toContain(key)
    expect((await nodes.ask('GET', `/v1/nodes/${id}`)).text).toContain(`"${key}":[{"${key}":1}]`)
    const change = await nodes.ask('PATCH', `/v1/nodes/${other}`, { body: { data: JSON.parse(`{"${key}":7}`) } })
    expect(change.text).toContain(`"${key}":7`)
    const added = await nodes.ask('POST', '/v1/nodes', {
      body: [below('root', sleeping(0), { data: JSON.parse(`{"seconds":0,"${key}":7}`) })],
    })
    expect(added.text).toContain(`"${key}":7`)
    const metadata = JSON.parse(`{"type":"sleep","parent":"root","${key}":1}`)
    const refused = await nodes.ask('POST', '/v1/nodes', { body: [{ metadata, data: { seconds: 0 } }] })
    expect(refused.json).toMatchObject({
      status: 400,
      code: 'invalid',
      errors: [{ pointer: `/body/0/metadata/${key}` }],
    })
    await nodes.ask('PUT', `/v1/scheduler/kill?id=${running}`)
  })

  test('a number that JSON would alter is refused wherever data is given', async () => {
    const id = await aNode()
    const raw = (method: string, path: string, body: string) => nodes.ask(method, path, { body })
    for (const [method, path, body, pointer] of [
      ['PUT', `/v1/nodes/${id}/data/n`, '{"value":[1e400]}', '/body/value/0'],
      ['PATCH', `/v1/nodes/${id}`, '{"data":{"n":12345678901234567890}}', '/body/data/n'],
      [
        'POST',
        '/v1/nodes',
        '[{"metadata":{"type":"sleep","parent":"root"},"data":{"seconds":1e400}}]',
        '/body/0/data/seconds',
      ],
    ] as const) {
      const { json } = await raw(method, path, body)
      expect(json, path).toMatchObject({ status: 400, code: 'number_not_exact', errors: [{ pointer }] })
    }
  })

  test('an unknown node and an unknown key are told apart', async () => {
    const id = await aNode()
    expect((await nodes.ask('GET', '/v1/nodes/99999999/data')).json).toMatchObject({
      status: 404,
      code: 'node_not_found',
    })
    expect(await read('99999999', 'x')).toMatchObject({ status: 404, code: 'node_not_found' })
    expect(await read('9'.repeat(19), 'x')).toMatchObject({ status: 400 })
    for (const key of ['x', 'stdout', 'signal', 'branch', '..%2f..%2fetc%2fpasswd', '__proto__', 'constructor'])
      expect(await read(id, key), key).toMatchObject({ status: 404, code: 'key_not_found' })
    expect(await read(id, '%00')).toMatchObject({ status: 400 })
    expect(await read('abc', 'x')).toMatchObject({ status: 400 })
  })
})

describe('T5: reading values', () => {
  test('what is no text comes as it is', async () => {
    const id = await aNode({ list: [1, { a: null }], yes: true, nothing: null })
    expect(await read(id, 'list')).toEqual({ key: 'list', data: [1, { a: null }] })
    expect(await read(id, 'nothing')).toEqual({ key: 'nothing', data: null })
    expect(await read(id, 'seconds')).toEqual({ key: 'seconds', data: 0 })
  })

  test('a text comes in pieces that end between characters', async () => {
    const text = 'aä€😀'.repeat(20)
    const id = await aNode({ text })
    for (const limit of [4, 5, 7, 50, 65_536]) {
      const pieces = await readAll(id, 'text', limit)
      expect(pieces.join(''), `by ${limit}`).toBe(text)
      for (const piece of pieces) expect(Buffer.byteLength(piece)).toBeLessThanOrEqual(limit)
    }
    expect((await readAll(id, 'text', 65_536)).length).toBe(1)
  })

  test('a long text comes in pieces of 64 KiB, and its last piece says that it is the last', async () => {
    const id = await aNode({ text: 'x'.repeat(65_536 * 2) })
    const first = await read(id, 'text')
    expect(first.data).toHaveLength(65_536)
    expect(first.pagination).toEqual({ next: '65536', pid: expect.any(String) })
    const second = await read(id, 'text', `?start=65536&pid=${first.pagination.pid}`)
    expect(second.data).toHaveLength(65_536)
    expect(second.pagination).toBeUndefined()
  })

  test('start needs a pid, by either name', async () => {
    const id = await aNode({ text: 'abcdef' })
    const { pid } = (await read(id, 'text', '?limit=4')).pagination
    expect(await read(id, 'text', '?start=4')).toMatchObject({ status: 400, errors: [{ pointer: '/query/pid' }] })
    expect((await read(id, 'text', `?start=4&pagid=${pid}`)).data).toBe('ef')
    expect(await read(id, 'text', `?start=x&pid=${pid}`)).toMatchObject({ status: 400 })
    expect((await read(id, 'text', `?start=400&pid=${pid}`)).data).toBe('')
  })

  test.each(['2147483647', '2147483648', '999999999999999'])(
    'a place as far behind the end as %s is behind the end like any other',
    async (start) => {
      const id = await aNode({ text: 'abcdef' })
      const { pid } = (await read(id, 'text', '?limit=4')).pagination
      expect(await read(id, 'text', `?start=${start}&pid=${pid}`)).toEqual({ key: 'text', data: '' })
      expect(await read(id, 'text', `?start=${start}&pid=0`)).toMatchObject({ status: 410 })
      expect((await put(id, 'text', 'x', `?start=${start}&pid=${pid}`)).json).toMatchObject({ status: 413 })
    },
  )

  test('a pid of a value that was replaced is gone', async () => {
    const id = await aNode({ text: 'abcdefgh' })
    const { pid } = (await read(id, 'text', '?limit=4')).pagination
    await put(id, 'text', 'ABCDEFGH')
    expect(await read(id, 'text', `?start=4&pid=${pid}`)).toMatchObject({ status: 410, code: 'gone' })
  })

  test('the same version is not sent again', async () => {
    const id = await aNode({ text: 'abc' })
    const { headers } = await nodes.ask('GET', `/v1/nodes/${id}/data/text`)
    const etag = headers.get('etag') as string
    const again = await nodes.ask('GET', `/v1/nodes/${id}/data/text`, { headers: { 'if-none-match': etag } })
    expect(again.status).toBe(304)
  })
})

describe('T5: output that grows', () => {
  test('a piece without an end has a place to go on, and the last one has none', async () => {
    const path = `/tmp/millrace-data-${process.pid}`
    const [id] = (await nodes.add(
      shell(`echo one; for i in $(seq 5000); do [ -e ${path} ] && break; sleep 0.02; done; echo two; rm ${path}`),
    )) as [string]
    const first = await waitFor(async () => {
      const piece = await read(id, 'stdout')
      return piece.data === 'one\n' ? piece : undefined
    })
    expect(first.pagination).toEqual({ next: '4', pid: expect.any(String) })
    const { next, pid } = first.pagination
    const empty = await read(id, 'stdout', `?start=${next}&pid=${pid}`)
    expect(empty).toEqual({ key: 'stdout', data: '', pagination: { next: '4', pid } })
    const { omitted, data } = await nodes.get(id)
    expect(omitted).toEqual(['stdout', 'stderr', 'mixedout'])
    expect(data.result).toBeUndefined()
    await nodes.run(shell(`touch ${path}`))
    await nodes.ended(id)
    expect(await read(id, 'stdout', `?start=${next}&pid=${pid}`)).toEqual({ key: 'stdout', data: 'two\n' })
    expect(await read(id, 'stdout', '?start=0&pid=o99')).toMatchObject({ status: 410 })
  })
})

describe('T5: writing values', () => {
  test('a whole value is replaced, by a value of any kind', async () => {
    const id = await aNode({ own: 'before' })
    expect((await put(id, 'own', [1, 2])).status).toBe(200)
    expect(await nodes.value(id, 'own')).toEqual([1, 2])
    await put(id, 'own', null)
    expect(await nodes.value(id, 'own')).toBeNull()
    await put(id, 'new%20one', 'ä')
    expect(await nodes.value(id, 'new%20one')).toBe('ä')
  })

  test('an empty start sets only what is unset, and says how to replace it', async () => {
    const id = await aNode()
    const set = await put(id, 'own', 'first', '?start=')
    expect(set.json).toEqual({ key: 'own', pagination: { next: '0', pid: expect.any(String) } })
    expect((await put(id, 'own', 'second', '?start=')).json).toMatchObject({ status: 412, code: 'precondition_failed' })
    expect(await nodes.value(id, 'own')).toBe('first')
    const { next, pid } = set.json.pagination
    const again = await put(id, 'own', 'again', `?start=${next}&pid=${pid}`)
    expect(again.json.pagination.next).toBe('5')
    expect(await nodes.value(id, 'own')).toBe('again')
  })

  test('of many who set what is unset one wins', async () => {
    const id = await aNode()
    const replies = await Promise.all(Array.from({ length: 10 }, (_, n) => put(id, 'own', n, '?start=')))
    const winners = replies.flatMap((reply, n) => (reply.status === 200 ? [n] : []))
    expect(winners).toHaveLength(1)
    expect(await nodes.value(id, 'own')).toBe(winners[0])
    expect(new Set(replies.map((reply) => reply.status))).toEqual(new Set([200, 412]))
  })

  test('a text is written piece after piece, and from any place on', async () => {
    const id = await aNode()
    let { pagination } = (await put(id, 'own', 'eins ')).json
    for (const piece of ['zwei ', 'drü ', '😀']) {
      pagination = (await put(id, 'own', piece, `?start=${pagination.next}&pagid=${pagination.pid}`)).json.pagination
    }
    expect(await nodes.value(id, 'own')).toBe('eins zwei drü 😀')
    await put(id, 'own', '!', `?start=4&pid=${pagination.pid}`)
    expect(await nodes.value(id, 'own')).toBe('eins!')
  })

  test('a place that cannot be written to is refused', async () => {
    const id = await aNode({ own: 'aä', number: 7 })
    const { pid } = (await put(id, 'own', 'aä')).json.pagination
    const at = (start: number, value: unknown = 'x') => put(id, 'own', value, `?start=${start}&pid=${pid}`)
    expect((await at(2)).json).toMatchObject({ status: 400 })
    expect((await at(4)).json).toMatchObject({ status: 400 })
    expect((await at(0, 5)).json).toMatchObject({ status: 400 })
    expect((await put(id, 'own', 'x', '?start=1')).json).toMatchObject({ status: 400 })
    expect((await put(id, 'other', 'x', '?start=0&pid=1')).json).toMatchObject({ status: 404 })
    const number = (await put(id, 'number', 8)).json.pagination
    expect((await put(id, 'number', 'x', `?start=0&pid=${number.pid}`)).json).toMatchObject({ status: 400 })
    expect(await nodes.value(id, 'own')).toBe('aä')
    expect((await at(3)).status).toBe(200)
    expect((await at(0)).json).toMatchObject({ status: 410, code: 'gone' })
  })

  test('If-Match keeps one who has not seen the last value from overwriting it', async () => {
    const id = await aNode({ own: 'a' })
    const etag = (await nodes.ask('GET', `/v1/nodes/${id}/data/own`)).headers.get('etag') as string
    const write = (value: string) =>
      nodes.ask('PUT', `/v1/nodes/${id}/data/own`, { body: { value }, headers: { 'if-match': etag } })
    const first = await write('b')
    expect(first.status).toBe(200)
    expect(first.headers.get('etag')).not.toBe(etag)
    expect((await write('c')).json).toMatchObject({ status: 412, code: 'precondition_failed' })
    expect(await nodes.value(id, 'own')).toBe('b')
  })

  test('what the server writes cannot be written', async () => {
    const id = await aNode()
    for (const key of ['result', 'signal', 'error', 'stdout', 'stderr', 'mixedout'])
      expect((await put(id, key, 'x')).json, key).toMatchObject({ status: 400, code: 'invalid' })
  })

  test('what the work is made of is fixed once the node has started', async () => {
    const id = await aNode()
    for (const [key, value] of [
      ['seconds', 1],
      ['command', 'true'],
      ['run_if', 'always'],
    ])
      expect((await put(id, key as string, value)).json, key as string).toMatchObject({
        status: 409,
        code: 'node_state_refused',
      })
    expect(await nodes.value(id, 'seconds')).toBe(0)
  })

  test('a body without a value, with more, or that cannot be stored is refused', async () => {
    const id = await aNode()
    for (const body of [{}, { value: 1, more: 2 }, [], 'x', { value: 'a\u0000' }, { value: { deep: ['\udc00'] } }]) {
      const { status } = await nodes.ask('PUT', `/v1/nodes/${id}/data/own`, { body })
      expect(status, JSON.stringify(body)).toBe(400)
    }
    expect((await put('99999999', 'own', 1)).json).toMatchObject({ status: 404 })
  })

  test('a value of ten megabytes is kept, and one that is too large is refused', async () => {
    const id = await aNode()
    const text = 'ä'.repeat(5_000_000)
    const { pagination } = (await put(id, 'own', text)).json
    expect(pagination.next).toBe('10000000')
    const pieces = await readAll(id, 'own', 1_048_576)
    expect(pieces.join('') === text).toBe(true)
    expect((await nodes.get(id)).omitted).toEqual(['own'])
    expect((await put(id, 'own', 'x'.repeat(40_000_000))).status).toBe(413)
  })
})
