import { describe, expect, test } from 'vitest'
import { below, command, type Item, shell, sleeping, useNodes } from '../../test/nodes.ts'
import { createToken } from '../access/index.ts'

const nodes = useNodes()

async function countNodes(): Promise<number> {
  const { rows } = await nodes.server.database.pool.query('select count(*)::int as count from millrace.node')
  return rows[0].count
}

/** Refused with the status, saying where, and nothing is stored. */
async function expectRefusal(body: unknown, pointer: string, says: RegExp | string = ''): Promise<void> {
  const before = await countNodes()
  const { status, json } = await nodes.ask('POST', '/v1/nodes', { body })
  expect(status).toBe(400)
  expect(json.code).toBe('invalid')
  expect(json.errors.map((error: { pointer: string }) => error.pointer)).toContain(pointer)
  const found = json.errors.find((error: { pointer: string }) => error.pointer === pointer)
  expect(found.message).toMatch(says)
  expect(await countNodes()).toBe(before)
}

describe('T1: adding nodes', () => {
  test('one node is answered with its id, incipient, with what was given', async () => {
    const { status, json } = await nodes.ask('POST', '/v1/nodes', { body: [command('true')] })
    expect(status).toBe(201)
    expect(json).toMatchObject([
      { metadata: { id: expect.stringMatching(/^\d+$/), type: 'command', parent: 'root', state: 'incipient' } },
    ])
    expect(json[0].data).toEqual({ command: 'true' })
    expect(await nodes.ended(json[0].metadata.id)).toEqual(['finished'])
  })

  test('many are answered in the order of the request, with ascending ids', async () => {
    const { json } = await nodes.ask('POST', '/v1/nodes', {
      body: [0, 1, 2, 3].map((n) => below('root', command('true'), { data: { n } })),
    })
    expect(json.map((node: { data: { n: number } }) => node.data.n)).toEqual([0, 1, 2, 3])
    const ids = json.map((node: { metadata: { id: string } }) => Number(node.metadata.id))
    expect(ids).toEqual([...ids].sort((a, b) => a - b))
  })

  test('a parent may be root, a node, or an earlier one of the same request', async () => {
    const [first] = await nodes.add(sleeping(0))
    const { json } = await nodes.ask('POST', '/v1/nodes', {
      body: [below(first as string, command('true')), below('#0', command('true')), below('#0', command('true'))],
    })
    const [child, one, two] = json.map((node: { metadata: { id: string } }) => node.metadata.id)
    expect(json.map((node: { metadata: { parent: string } }) => node.metadata.parent)).toEqual([first, child, child])
    expect(await nodes.ended(child, one, two)).toEqual(['finished', 'finished', 'finished'])
  })

  test('an unknown parent is refused by name, and nothing of the request is stored', async () => {
    await expectRefusal(
      [command('true'), below('99999999', command('true'))],
      '/body/1/metadata/parent',
      'does not exist',
    )
    await expectRefusal([below('9'.repeat(19), command('true'))], '/body/0/metadata/parent', 'root')
    await expectRefusal([below('#0', command('true'))], '/body/0/metadata/parent', 'not an earlier node')
    await expectRefusal(
      [command('true'), below('#5', command('true'))],
      '/body/1/metadata/parent',
      'not an earlier node',
    )
    await expectRefusal([below('somewhere', command('true'))], '/body/0/metadata/parent', 'root')
  })

  test('an unknown type is refused, naming the known ones', async () => {
    await expectRefusal(
      [{ metadata: { type: 'magic', parent: 'root' }, data: {} }],
      '/body/0/metadata/type',
      /shell command.*condition.*if.*sleep/,
    )
  })

  test('an id cannot be chosen, and neither can a state', async () => {
    await expectRefusal([below('root', command('true'), { metadata: { id: '7' } })], '/body/0/metadata/id')
    await expectRefusal([below('root', command('true'), { metadata: { state: 'running' } })], '/body/0/metadata/state')
  })

  test.each<[title: string, node: [type: string, data: object], pointer: string, says: string]>([
    ['a command without a program', ['command', {}], '/body/0/data', 'command is required'],
    ['an empty program', ['command', { command: '' }], '/body/0/data/command', 'empty'],
    ['a program that is no text', ['command', { command: 7 }], '/body/0/data/command', 'string'],
    ['arguments that are no list', ['command', { command: 'x', args: 'y' }], '/body/0/data/args', 'array'],
    ['an argument that is no text', ['command', { command: 'x', args: [1] }], '/body/0/data/args/0', 'string'],
    ['arguments of a shell command', ['shell command', { command: 'x', args: [] }], '/body/0/data', 'args'],
    ['a relative folder', ['command', { command: 'x', cwd: 'here' }], '/body/0/data/cwd', 'absolute'],
    ['an environment that is a list', ['command', { command: 'x', env: [] }], '/body/0/data/env', ''],
    ['a variable with a space', ['command', { command: 'x', env: { 'A B': '' } }], '/body/0/data/env/A B', ''],
    ['a variable of the server', ['command', { command: 'x', env: { MILLRACE_X: '' } }], '/body/0/data/env', ''],
    ['a timeout of nothing', ['command', { command: 'x', timeout: 0 }], '/body/0/data/timeout', 'more than 0'],
    ['a timeout in words', ['command', { command: 'x', timeout: 'soon' }], '/body/0/data/timeout', '30s'],
    ['an unknown limit', ['command', { command: 'x', limits: { a: 1 } }], '/body/0/data/limits/a', ''],
    ['a mask that is none', ['command', { command: 'x', umask: '999' }], '/body/0/data/umask', 'octal'],
    ['an unknown run_if', ['command', { command: 'x', run_if: 'maybe' }], '/body/0/data/run_if', ''],
    ['a sleep without seconds', ['sleep', {}], '/body/0/data', 'seconds is required'],
    ['a sleep of less than nothing', ['sleep', { seconds: -1 }], '/body/0/data/seconds', 'between'],
    ['a condition of nothing', ['condition', {}], '/body/0/data', 'one of command, file and time'],
    ['a condition of two', ['condition', { file: '/x', time: '2030-01-01T00:00:00Z' }], '/body/0/data', '2 are'],
    ['a time that is none', ['condition', { time: 'noon' }], '/body/0/data/time', '2030'],
    ['an if without a command', ['if', {}], '/body/0/data', 'command is required'],
    ['a result', ['command', { command: 'x', result: 0 }], '/body/0/data/result', 'by the server'],
    ['an output', ['command', { command: 'x', stdout: '' }], '/body/0/data/stdout', 'by the server'],
    ['what cannot be stored', ['command', { command: 'x', own: 'a\u0000b' }], '/body/0/data/own', 'stored'],
    ['half a pair', ['command', { command: 'x', own: ['\ud800'] }], '/body/0/data/own', 'stored'],
  ])('%s is refused', async (_, [type, data], pointer, says) => {
    await expectRefusal([{ metadata: { parent: 'root', type }, data }], pointer, says)
  })

  test('metadata and data that disagree about run_if are refused; either alone is taken', async () => {
    const both: Item = below('root', sleeping(0), { metadata: { run_if: 'always' }, data: { run_if: 'failure' } })
    await expectRefusal([both], '/body/0/data/run_if', 'something else')
    const [byData, byMetadata] = await nodes.run(
      below('root', sleeping(0), { data: { run_if: 'always' } }),
      below('root', sleeping(0), { metadata: { run_if: 'always' } }),
    )
    expect([byData.metadata.run_if, byMetadata.metadata.run_if]).toEqual(['always', 'always'])
  })

  test.each([
    [{}],
    [[]],
    ['text'],
    [null],
    [[null]],
    [[[]]],
    [[{ metadata: {} }]],
    [[{ data: {} }]],
    [[{ ...command('x'), more: 1 }]],
  ])('a body of %j is refused', async (body) => {
    const before = await countNodes()
    const { json } = await nodes.ask('POST', '/v1/nodes', { body })
    expect(json).toMatchObject({ status: 400 })
    expect(await countNodes()).toBe(before)
  })

  test('own data of any shape is kept as it is', async () => {
    const own = { text: 'x', number: 1.5, list: [1, [2]], nothing: null, yes: true, deep: { a: { b: 'ü€😀' } }, '': '' }
    const { '': _, ...kept } = own
    const [node] = await nodes.run(below('root', sleeping(0), { data: kept }))
    expect(node.data).toEqual({ ...kept, seconds: 0, result: 0 })
    await expectRefusal([below('root', sleeping(0), { data: own })], '/body/0/data/')
  })

  test('a repetition under the same key answers the first nodes and adds none', async () => {
    const headers = { 'idempotency-key': 'once-only' }
    const first = await nodes.ask('POST', '/v1/nodes', { body: [command('true')], headers })
    const before = await countNodes()
    const again = await nodes.ask('POST', '/v1/nodes', { body: [command('true')], headers })
    expect(again.status).toBe(201)
    expect(again.json).toEqual(first.json)
    expect(await countNodes()).toBe(before)
    const other = await nodes.ask('POST', '/v1/nodes', { body: [command('false')], headers })
    expect(other.json).toMatchObject({ status: 422, code: 'idempotency_mismatch' })
  })

  test('a submitter may add, a viewer may look, and without a token nothing is told', async () => {
    const { pool } = nodes.server.database
    const tokenOf = async (role: 'viewer' | 'submitter') =>
      (await createToken(pool, { name: role, role, limit: null, expiresAt: null, actor: 'test' })).secret
    const [viewer, submitter] = [await tokenOf('viewer'), await tokenOf('submitter')]
    const [id] = await nodes.add(sleeping(0))
    const add = (token: string | null) => nodes.ask('POST', '/v1/nodes', { body: [shell('true')], token })
    expect((await add(submitter)).status).toBe(201)
    expect((await add(viewer)).json).toMatchObject({ status: 403, code: 'forbidden' })
    expect((await add(null)).json).toMatchObject({ status: 401 })
    expect((await nodes.ask('GET', `/v1/nodes/${id}`, { token: viewer })).status).toBe(200)
    expect((await nodes.ask('GET', '/v1/nodes', { token: null })).status).toBe(401)
    const kill = await nodes.ask('PUT', `/v1/scheduler/kill?id=${id}`, { token: submitter })
    expect(kill.status).toBe(403)
    const remove = await nodes.ask('DELETE', `/v1/nodes/${id}`, { token: submitter })
    expect(remove.status).toBe(403)
  })
})
