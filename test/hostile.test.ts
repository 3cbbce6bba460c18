// What nobody should send, each kind by its name and on every route that takes it: each is answered with a clear problem,
// and the server goes on. Chance tries the same in fuzz.test.ts; who may enter is in roles.test.ts, ten thousand nodes and
// ten thousand levels are in src/http/nodes.many.test.ts.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Route, routes } from '../src/api/index.ts'
import { createSender, type RawReply } from './fuzz/raw.ts'
import { command, useNodes } from './nodes.ts'
import { ADMIN, comparison } from './server.ts'

const nodes = useNodes()
const all: Route[] = Object.values(routes).flatMap((resource) => Object.values(resource))
const withParams = all.filter(({ path, access }) => path.includes('{') && access.role !== 'anyone')
const withBody = all.filter(({ body }) => body !== undefined)

let send: ReturnType<typeof createSender>
let compare: Awaited<ReturnType<typeof comparison>>
beforeAll(async () => {
  send = createSender(nodes.server.url)
  compare = await comparison(nodes.server.url)
})
afterAll(() => send.close())

/** Sends what stands there, as it stands. */
function sent(method: string, path: string, body?: string): Promise<RawReply> {
  const type = body === undefined ? {} : { 'content-type': 'application/json' }
  return send({ method, path, headers: { authorization: `Bearer ${ADMIN}`, ...type }, body })
}

/** Sends it, and expects a problem that the document allows and no failure of the server. */
async function refused(method: string, path: string, body?: string): Promise<RawReply> {
  const reply = await sent(method, path, body)
  const where = `${method} ${path.slice(0, 200)} ${body?.slice(0, 200) ?? ''}: ${reply.status} ${reply.text.slice(0, 500)}`
  expect(reply.status, where).toBeGreaterThanOrEqual(400)
  expect(reply.status, where).toBeLessThan(500)
  expect(reply.headers.get('content-type'), where).toContain('application/problem+json')
  expect(reply.json, where).toMatchObject({
    status: reply.status,
    code: expect.stringMatching(/^[a-z_]+$/),
    title: expect.stringMatching(/./),
    request_id: expect.stringMatching(/./),
  })
  // A path that was never one of ours is in no document.
  if (!path.includes('..')) compare(method, path, reply)
  return reply
}

async function noneOrRefused(method: string, path: string): Promise<void> {
  const { status, json } = await sent(method, path)
  if (status === 200) expect(json).toEqual({ items: [], next_cursor: null })
  else await refused(method, path)
}

const filled = (path: string, value: string) => path.replaceAll(/\{\w+\}/g, value)

const tricks = [
  '..',
  '../../etc/passwd',
  '%2e%2e',
  '..%2f..%2f..%2fetc%2fpasswd',
  '%252e%252e%252f',
  '%5c..%5c',
  'a%00b',
  '%00',
  '%ff%fe',
  '%E0%80%AF',
  '%',
  '%zz',
  '%ED%A0%80',
  "1'%3B%20drop%20table%20millrace.task%3B--",
  '1%20or%201=1',
  '-1',
  '%2B1',
  '1e3',
  '0x1',
  '1.5',
  'NaN',
  '99999999999999999999',
  '9223372036854775808',
  '%EF%BC%91',
  '%E2%80%AE1',
  '__proto__',
  'constructor',
  '$%7Bjndi:ldap://x%7D',
  'x'.repeat(5_000),
]

test('a trick in place of an id is a problem, on every route that takes one', async () => {
  expect(withParams.length).toBeGreaterThan(30)
  for (const { method, path } of withParams) {
    // Setting what is not there yet is what these are for; the names are looked at in their own tests.
    if (method === 'PUT') continue
    for (const trick of tricks) {
      const asked = filled(path, trick)
      // Of an archive that is not there yet there may be secrets already: none is no problem.
      if (path === '/v1/archives/{archive}/secrets') await noneOrRefused(method, asked)
      else await refused(method, asked)
    }
  }
})

test('a trick in place of a key of data is not found, and reaches no file', async () => {
  const [id] = await nodes.add(command('true'))
  for (const trick of tricks) {
    const reply = await refused('GET', `/v1/nodes/${id}/data/${trick}`)
    expect(reply.text).not.toContain('root:')
  }
})

test('unknown fields are refused by name, on every route that takes a body', async () => {
  expect(withBody.length).toBeGreaterThan(20)
  for (const { method, path } of withBody) {
    const given = path === '/v1/nodes' ? [{ surely_unknown: 1 }] : { surely_unknown: 1 }
    const { json } = await refused(method, filled(path, '1'), JSON.stringify(given))
    // What the body is comes before what the path names: otherwise it would be 404.
    expect(json, `${method} ${path}`).toMatchObject({ status: 400, code: 'invalid' })
    expect(JSON.stringify(json.errors), `${method} ${path}`).toContain('surely_unknown')
  }
})

test('a body of another type is refused, on every route that takes one', async () => {
  for (const { method, path } of withBody) {
    for (const body of ['"text"', '7', 'true', '[[]]', '[null]', '{"":null}', '1e999', '[', '{"a":', '\u0000']) {
      await refused(method, filled(path, '1'), body)
    }
  }
})

test('ten megabytes of JSON are too large, on every route but those that are for large things', async () => {
  const body = JSON.stringify({ padding: 'x'.repeat(10_000_000) })
  const allowed: string[] = []
  for (const { method, path, name } of withBody) {
    const { json } = await refused(method, filled(path, '1'), body)
    if (json.status !== 413) allowed.push(name)
  }
  expect(allowed.filter((name) => !name.startsWith('nodes.'))).toEqual([])
})

test('JSON ten thousand levels deep is refused, on every route that takes a body', async () => {
  const deep = `${'['.repeat(10_000)}${']'.repeat(10_000)}`
  const deepObject = `${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}`
  for (const { method, path } of withBody) {
    for (const body of [deep, deepObject]) await refused(method, filled(path, '1'), body)
  }
})

const wrongNodes: readonly [string, unknown][] = [
  ['an object for a list', { metadata: { type: 'command', parent: 'root' } }],
  ['no metadata', [{ data: {} }]],
  ['a type that is a number', [{ metadata: { type: 7, parent: 'root' } }]],
  ['a parent that is a number', [{ metadata: { type: 'command', parent: 1 }, data: { command: 'true' } }]],
  ['a parent that comes later', [{ metadata: { type: 'command', parent: '#1' }, data: { command: 'true' } }]],
  ['a parent that is itself', [{ metadata: { type: 'command', parent: '#0' }, data: { command: 'true' } }]],
  ['a command that is a list', [{ metadata: { type: 'command', parent: 'root' }, data: { command: ['true'] } }]],
  ['arguments that are a text', [{ metadata: { type: 'command', parent: 'root' }, data: { command: 'a', args: 'b' } }]],
  ['a timeout before now', [{ metadata: { type: 'command', parent: 'root' }, data: { command: 'a', timeout: -1 } }]],
  [
    'a variable that is a number',
    [{ metadata: { type: 'command', parent: 'root' }, data: { command: 'a', env: { A: 1 } } }],
  ],
  [
    'a variable with = in its name',
    [{ metadata: { type: 'command', parent: 'root' }, data: { command: 'a', env: { 'A=B': '1' } } }],
  ],
  [
    'a NUL in an argument',
    [{ metadata: { type: 'command', parent: 'root' }, data: { command: 'a', args: ['\u0000'] } }],
  ],
  [
    'a folder that is relative',
    [{ metadata: { type: 'command', parent: 'root' }, data: { command: 'a', cwd: '../..' } }],
  ],
  ['half a character', [{ metadata: { type: 'command', parent: 'root' }, data: { command: 'a', note: '\ud800' } }]],
  ['an own result', [{ metadata: { type: 'command', parent: 'root' }, data: { command: 'a', result: 0 } }]],
]

test.each(wrongNodes)('%s is refused with where it stands, and nothing is added', async (_, body) => {
  const count = async () =>
    Number((await nodes.server.database.pool.query('select count(*) from millrace.node')).rows[0].count)
  const before = await count()
  const { json } = await refused('POST', '/v1/nodes', JSON.stringify(body))
  expect(json.status).toBe(400)
  expect(json.detail).toMatch(/./)
  expect(await count()).toBe(before)
})

test('the server that was asked all this is ready', async () => {
  expect((await fetch(`${nodes.server.url}/readyz`)).status).toBe(200)
})
