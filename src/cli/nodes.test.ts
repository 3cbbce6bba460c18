import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { scratch } from '../../test/scratch.ts'
import { aTaskServer, type TaskServer } from '../../test/task-server.ts'

let server: TaskServer

beforeAll(async () => {
  server = await aTaskServer()
})
afterAll(() => server[Symbol.asyncDispose]())

const run: TaskServer['commandLine'] = (...asked) => server.commandLine(...asked)
const idOf = async (...args: string[]) => (await run(['node', 'add', '-q', ...args])).stdout.trim()

describe('node add', () => {
  test('runs a command with its arguments as they are', async () => {
    const id = await idOf('--', 'printf', '%s|', 'a b', '--json')
    expect((await run(['node', 'wait', id])).exitCode).toBe(0)
    expect((await run(['node', 'get', id, 'stdout'])).stdout).toBe('a b|--json|')
  })

  test('gives the program everything that stands behind it', async () => {
    const words = ['sh', '-c', 'printf "%s|" "$@"', 'sh', '--json', '--version', '--server=x', '--', '-q']
    const id = await idOf('--parent', 'root', ...words)
    expect((await run(['node', 'wait', id])).exitCode).toBe(0)
    expect((await run(['node', 'get', id, 'stdout'])).stdout).toBe('--json|--version|--server=x|--|-q|')
  })

  test('takes no unknown option before the program', async () => {
    const { exitCode, stderr } = await run(['node', 'add', '--parnt', '1', 'ls', '--json'])
    expect(exitCode).toBe(2)
    expect(stderr).toContain('did you mean --parent?')
  })

  test('runs a text in the shell, in a folder, with data', async () => {
    await using folder = await scratch()
    const id = await idOf('--shell', 'pwd; echo $X', '--cwd', folder.path, '--data', 'env:={"X":"y"}')
    await run(['node', 'wait', id])
    expect((await run(['node', 'get', id, 'mixedout'])).stdout).toBe(`${folder.path}\ny\n`)
  })

  test('runs after its parent, as that ended', async () => {
    const parent = await idOf('--', 'false')
    const [onSuccess, onFailure] = [
      await idOf('--parent', parent, '--', 'true'),
      await idOf('--parent', parent, '--run-if', 'failure', '--', 'true'),
    ]
    const { stdout } = await run(['node', 'wait', onSuccess, onFailure, '--plain'])
    expect(stdout).toBe(`${onSuccess}\tskipped\n${onFailure}\tfinished\n`)
  })

  test('adds many from a file, or from standard input', async () => {
    await using folder = await scratch()
    const node = (parent: string) => ({ metadata: { type: 'sleep', parent }, data: { seconds: 0 } })
    const file = join(folder.path, 'nodes.json')
    await writeFile(file, JSON.stringify([node('root'), node('#0')]))
    const rows = JSON.parse((await run(['node', 'add', '--file', file, '--json=id,parent'])).stdout)
    expect(rows).toEqual([
      { id: expect.any(String), parent: 'root' },
      { id: expect.any(String), parent: rows[0].id },
    ])
    const piped = await run(['node', 'add', '--file', '-', '-q'], { stdin: JSON.stringify(node('root')) })
    expect(piped.stdout).toMatch(/^\d+\n$/)
  })

  const text = /^to fix it: .*args=TEXT for a text$/m
  const json = /^to fix it: .*args:=JSON for any other value/m
  test.each([
    ['a text that must be JSON', ['add', '--shell', 'x', '--data', 'args=1'], json],
    ['JSON that must be a text', ['add', '--shell', 'x', '--data', 'cwd:=5'], /^to fix it: .*cwd=TEXT for a text$/m],
    ['what is no JSON', ['add', '--shell', 'x', '--data', 'args:=[a'], text],
    ['a pair without a value', ['add', '--shell', 'x', '--data', 'args'], /^to fix it: .*KEY=TEXT .* KEY:=JSON/m],
    ['a text in an edit', ['edit', 'ID', '--data', 'args=1'], json],
    ['a pair as the key', ['set', 'ID', 'args:=[1]'], /^to fix it: .*node set ID KEY VALUE.*--as-json/m],
    ['what is no JSON as the value', ['set', 'ID', 'args', '[a', '--as-json'], /^to fix it: .*leave out --as-json/m],
  ])('tells the other way to write %s', async (_, [verb = '', ...words], remedy) => {
    const parent = words[0] === 'ID' ? await idOf('sleep', '600') : ''
    const id = parent === '' ? '' : await idOf('--parent', parent, 'true')
    const { exitCode, stderr } = await run(['node', verb, ...words.map((word) => (word === 'ID' ? id : word))])
    expect(exitCode).toBe(2)
    expect(stderr).toMatch(remedy)
    if (parent !== '') await run(['node', 'kill', parent, '--yes'])
  })

  test('without anything to run, or with what is no JSON, is refused', async () => {
    for (const args of [[], ['--shell', 'x', '--type', 'sleep'], ['--type', 'sleep', '--data', 'seconds:=x']]) {
      expect((await run(['node', 'add', ...args])).exitCode).toBe(2)
    }
  })
})

test('-q prints the id of what a command changes, and nothing else', async () => {
  const parent = await idOf('sleep', '600')
  const id = await idOf('--parent', parent, 'true')
  const quiet = { stdout: `${id}\n`, stderr: '', exitCode: 0 }
  expect(await run(['node', 'set', id, 'note', 'x', '-q'])).toMatchObject(quiet)
  expect(await run(['node', 'edit', id, '--data', 'note=y', '--quiet'])).toMatchObject(quiet)
  expect(await run(['node', 'rm', id, '--yes', '-q'])).toMatchObject({ stdout: '', stderr: '', exitCode: 0 })
  expect(await run(['node', 'kill', parent, '--yes', '-q'])).toMatchObject({ stdout: `${parent}\n`, stderr: '' })
})

describe('node get', () => {
  test('tells with --json what the server refused as the server said it', async () => {
    const refused = await run(['node', 'get', '999999', '--json'])
    expect(refused).toMatchObject({ exitCode: 3, stdout: '' })
    expect(JSON.parse(refused.stderr)).toMatchObject({
      type: expect.any(String),
      title: expect.any(String),
      status: 404,
      code: 'node_not_found',
      detail: expect.stringContaining('999999'),
      request_id: expect.any(String),
    })
    const signedOut = await run(['node', 'get', '1', '--json'], { env: { MILLRACE_TOKEN: 'wrong' } })
    expect(signedOut.exitCode).toBe(4)
    expect(JSON.parse(signedOut.stderr)).toMatchObject({ status: 401, remedy: expect.stringContaining('login') })
  })

  test('follows output from before it begins to its end', async () => {
    const first = await idOf('--', 'sleep', '0.3')
    const id = await idOf('--parent', first, '--shell', 'echo one; sleep 0.3; echo two')
    const { stdout, exitCode } = await run(['node', 'get', id, 'stdout', '-f'])
    expect({ stdout, exitCode }).toEqual({ stdout: 'one\ntwo\n', exitCode: 0 })
  })

  test('of output that will never come is exit code 3', async () => {
    const parent = await idOf('--', 'false')
    const id = await idOf('--parent', parent, '--', 'true')
    expect((await run(['node', 'get', id, 'stdout', '-f'])).exitCode).toBe(3)
  })

  test('gives bytes as they were written', async () => {
    const id = await idOf('--', 'printf', '\\377\\000ab')
    await run(['node', 'wait', id])
    expect((await run(['node', 'get', id, 'stdout'])).bytes).toEqual(Buffer.from([0xff, 0, 0x61, 0x62]))
    const json = JSON.parse((await run(['node', 'get', id, 'stdout', '--json'])).stdout)
    expect(json).toEqual({ key: 'stdout', value: '\ufffd\u0000ab' })
  })

  test('shows the whole node, and as JSON the one of the API', async () => {
    const id = await idOf('--', 'echo', 'hi')
    await run(['node', 'wait', id])
    const { stdout } = await run(['node', 'get', id])
    expect(stdout).toMatch(new RegExp(`^node ${id} {2}✓ finished {2}echo hi\n`))
    expect(stdout).toContain('  result    0\n')
    const { stdout: json } = await run(['node', 'get', id, '--json'])
    expect(JSON.parse(json)).toEqual((await server.ask('GET', `/v1/nodes/${id}`)).json)
  })
})

describe('node set', () => {
  test('sets a text or JSON, also from standard input, and with --if-unset only once', async () => {
    const id = await idOf('--', 'true')
    const value = async (key: string) => JSON.parse((await run(['node', 'get', id, key, '--json=value'])).stdout).value
    await run(['node', 'set', id, 'note', 'true'])
    expect(await value('note')).toBe('true')
    await run(['node', 'set', id, 'note', 'true', '--as-json'])
    expect(await value('note')).toBe(true)
    await run(['node', 'set', id, 'piped'], { stdin: 'from a pipe' })
    expect(await value('piped')).toBe('from a pipe')
    expect((await run(['node', 'set', id, 'note', 'x', '--if-unset'])).exitCode).toBe(5)
  })
})

describe('node edit, kill and rm', () => {
  test('change, stop and remove what is there', async () => {
    const parent = await idOf('--', 'sleep', '3600')
    const child = await idOf('--parent', parent, '--', 'echo', 'a')
    await run(['node', 'edit', child, '--data', 'args:=["b"]', '--run-if', 'always'])
    expect((await run(['node', 'kill', parent])).exitCode).toBe(2)
    const killed = await run(['node', 'kill', parent, '--yes', '--json=id'])
    expect(killed.stdout).toBe(`[{"id":"${parent}"}]\n`)
    expect((await run(['node', 'wait', parent])).exitCode).toBe(21)
    await run(['node', 'wait', child])
    expect((await run(['node', 'get', child, 'stdout'])).stdout).toBe('b\n')
    expect((await run(['node', 'rm', parent, '--chain', '--yes', '--json'])).stdout).toBe('{"removed":2}\n')
    expect((await run(['node', 'get', parent])).exitCode).toBe(3)
  })
})

describe('node ls and tree', () => {
  test('list all pages, and draw each below the one it runs after', async () => {
    const top = await idOf('--', 'echo', 'top')
    const below = await idOf('--parent', top, '--', 'echo', 'below')
    await run(['node', 'wait', top, below])
    expect((await run(['node', 'ls', '--parent', top, '-q'])).stdout).toBe(`${below}\n`)
    const { stdout } = await run(['node', 'tree', top])
    expect(stdout).toMatch(new RegExp(`^└─ ${top} ✓ finished {2}echo top .*\n {3}└─ ${below} ✓ finished {2}echo below`))
    const [json] = JSON.parse((await run(['node', 'tree', top, '--json'])).stdout)
    expect(json).toMatchObject({ id: top, children: [{ id: below, children: [] }] })
  })
})

describe('what is refused', () => {
  test('is told by the names of the command line, and of a file by the place in it', async () => {
    const one = await run(['node', 'add', '--parent', '987654', '--', 'true'])
    expect(one.stderr).toMatch(/^millrace: parent: node 987654 does not exist\n/)
    const node = { metadata: { type: 'command', parent: '987654' }, data: { command: 'true' } }
    const many = await run(['node', 'add', '--file', '-'], { stdin: JSON.stringify([node]) })
    expect(many.stderr).toMatch(/^millrace: \[0\]\.metadata\.parent: node 987654 does not exist\n/)
    const states = await run(['node', 'ls', '--state', 'bogus'])
    expect(states.exitCode).toBe(2)
    expect(states.stderr).not.toContain('/query/')
  })
})

test('the task of a node is named by the number of the node, as the first steps do', async () => {
  const id = await idOf('--', 'echo', 'hello')
  await run(['node', 'wait', id])
  const name = `node/${id}`
  expect((await run(['why', name])).stdout).toMatch(/^✓ succeeded/)
  expect((await run(['logs', name, '--follow'])).stdout).toBe('hello\n')
  expect((await run(['events', name])).stdout).toMatch(/ {2}created {2}by admin\n/)
})

test('keys that are names of the prototype of objects are set and shown, and inexact numbers are refused', async () => {
  const id = await idOf('--data', '__proto__=one', '--data', 'constructor:={"__proto__":2}', '--', 'true')
  await run(['node', 'set', id, 'toString', 'three'])
  const text = (await run(['node', 'get', id])).stdout
  for (const line of [/__proto__ one/, /constructor \{"__proto__":2\}/, /toString {2}three/]) expect(text).toMatch(line)
  const { stdout } = await run(['node', 'get', id, '--json'])
  for (const part of ['"__proto__":"one"', '"constructor":{"__proto__":2}', '"toString":"three"'])
    expect(JSON.stringify(JSON.parse(stdout))).toContain(part)
  const refused = await run(['node', 'add', '--data', 'n:=[1e400]', '--', 'true'])
  expect([refused.exitCode, refused.stderr]).toEqual([2, expect.stringContaining('1e400 would be altered')])
})

describe('node wait', () => {
  test('thousands of nodes are killed and awaited by one command', async () => {
    const item = (parent: string) => ({ metadata: { type: 'sleep', parent }, data: { seconds: 3600 } })
    const { json } = await server.ask('POST', '/v1/nodes', { body: [item('root'), ...Array(1500).fill(item('#0'))] })
    const ids = (json as { id: string }[]).map(({ id }) => id)
    const killed = await run(['node', 'kill', ...ids, '--yes', '--quiet'])
    expect([killed.exitCode, killed.stderr]).toEqual([0, ''])
    const waited = await run(['node', 'wait', ...ids, '--quiet'])
    expect(waited.stdout.trim().split('\n')).toEqual(ids)
  })

  test('for a state ends while the node runs, and 124 means that it timed out', async () => {
    const id = await idOf('--', 'sleep', '3600')
    expect((await run(['node', 'wait', id, '--for', 'running'])).exitCode).toBe(0)
    const { exitCode, stderr } = await run(['node', 'wait', id, '--timeout', '200ms'])
    expect(exitCode).toBe(124)
    expect(stderr).toContain(`not all have ended: node ${id} is running\n`)
    const below = await idOf('--parent', id, '--', 'true')
    const other = await run(['node', 'wait', below, '--for', 'running', '--timeout', '200ms'])
    expect(other.stderr).toContain(`not all are running: node ${below} is incipient\n`)
    await run(['node', 'kill', id, '--yes'])
  })
})

describe('logs', () => {
  const taskOf = async (id: string) => JSON.parse((await run(['node', 'get', id, '--json'])).stdout).metadata.task

  test('print what a task wrote, stream by stream', async () => {
    const id = await idOf('--shell', 'echo out; echo err >&2')
    await run(['node', 'wait', id])
    const task = await taskOf(id)
    expect((await run(['logs', task, '--stream', 'stderr'])).stdout).toBe('err\n')
    const json = (await run(['logs', task, '--stream', 'stdout', '--json'])).stdout
    expect(JSON.parse(json)).toEqual({ id: task, stream: 'stdout', text: 'out\n' })
  })

  test('are followed to the end of the attempt', async () => {
    const id = await idOf('--shell', 'echo one; sleep 0.5; echo two')
    expect((await run(['logs', await taskOf(id), '-f'])).stdout).toBe('one\ntwo\n')
  })

  test('of a large output come whole', async () => {
    const id = await idOf('--shell', 'seq 1 400000')
    await run(['node', 'wait', id])
    const { stdout } = await run(['logs', await taskOf(id)])
    expect(stdout.length).toBe(2_688_895)
    expect(stdout.endsWith('399999\n400000\n')).toBe(true)
  })
})
