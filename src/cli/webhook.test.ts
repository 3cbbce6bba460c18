import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { commandLineOf } from '../../test/command-line.ts'
import { aReceiver } from '../../test/receiver.ts'
import { aServer, type TestServer } from '../../test/server.ts'

let server: TestServer
let run: ReturnType<typeof commandLineOf>
let data: string

beforeAll(async () => {
  data = await mkdtemp(join(tmpdir(), 'millrace-webhook-'))
  server = await aServer({ outbound_allow: '127.0.0.0/8', data })
  run = commandLineOf(server)
})
afterAll(async () => {
  await server[Symbol.asyncDispose]()
  await rm(data, { recursive: true, force: true })
})

const json = async (args: string[]) => JSON.parse((await run([...args, '--json'])).stdout)

describe('webhook', () => {
  test('add prints the secret alone on standard output, and ls never does', async () => {
    const receiver = await aReceiver()
    const added = await run([
      'webhook',
      'add',
      receiver.url,
      '--scope',
      'node',
      '--topic',
      'failed',
      '--topic',
      'added',
    ])
    expect(added.exitCode).toBe(0)
    expect(added.stdout).toMatch(/^whsec_\S+\n$/)
    expect(added.stderr).not.toContain(added.stdout.trim())
    const [listed] = await json(['webhook', 'ls'])
    expect(listed).toMatchObject({ url: receiver.url, scopes: ['node'], names: ['failed', 'added'], enabled: true })
    expect(JSON.stringify(listed)).not.toContain(added.stdout.trim())
  })

  test('test ends with 0 when the receiver takes the message and with 1 when it does not', async () => {
    const taking = await aReceiver()
    const refusing = await aReceiver((response) => response.writeHead(500).end('out of order'))
    const { id } = await json(['webhook', 'add', taking.url])
    const { id: other } = await json(['webhook', 'add', refusing.url])
    const good = await run(['webhook', 'test', id])
    expect(good).toMatchObject({ exitCode: 0, stdout: expect.stringMatching(/^taken: 204 in /) })
    expect(await taking.count(1)).toHaveLength(1)
    const bad = await run(['webhook', 'test', other])
    expect(bad).toMatchObject({ exitCode: 1, stdout: expect.stringMatching(/^not taken: 500 in .*\nout of order\n$/) })
  })

  test('deliveries are listed and sent again under the same id', async () => {
    const receiver = await aReceiver()
    const { id } = await json(['webhook', 'add', receiver.url])
    await run(['webhook', 'test', id])
    const [delivery] = await json(['webhook', 'deliveries', id, '--state', 'succeeded'])
    expect(delivery).toMatchObject({ state: 'succeeded', attempts: [{ status: 204 }] })
    expect(await run(['webhook', 'resend', id, delivery.id, '-q'])).toMatchObject({
      exitCode: 0,
      stdout: `${delivery.id}\n`,
    })
    const [first, second] = await receiver.count(2)
    expect(second?.headers['webhook-id']).toBe(first?.headers['webhook-id'])
  })

  test('disable, enable, rotate and rm do what they say', async () => {
    const receiver = await aReceiver()
    const { id, secret } = await json(['webhook', 'add', receiver.url])
    expect(await json(['webhook', 'disable', id])).toMatchObject([{ id, enabled: false }])
    expect((await run(['webhook', 'ls', '--plain'])).stdout).toContain(`${id}\tdisabled\t`)
    expect(await json(['webhook', 'enable', id])).toMatchObject([{ id, enabled: true }])
    const rotated = await run(['webhook', 'rotate', id, '--keep', '1h'])
    expect(rotated.stdout).toMatch(/^whsec_/)
    expect(rotated.stdout.trim()).not.toBe(secret)
    expect(rotated.stderr).toMatch(/ends in \d+ min/)
    expect(await run(['webhook', 'rm', id])).toMatchObject({ exitCode: 2 })
    expect(await run(['webhook', 'rm', id, '--yes'])).toMatchObject({ exitCode: 0 })
    expect(await run(['webhook', 'test', id])).toMatchObject({ exitCode: 3 })
  })

  test('what cannot be is refused with the exit code that fits', async () => {
    expect(await run(['webhook', 'add', 'nowhere'])).toMatchObject({ exitCode: 2 })
    expect(await run(['webhook', 'add', 'http://10.0.0.1/'])).toMatchObject({ exitCode: 2 })
    expect(await run(['webhook', 'deliveries', '999'])).toMatchObject({ exitCode: 3 })
    expect(await run(['webhook', 'ls'], { env: { MILLRACE_TOKEN: 'wrong' } })).toMatchObject({ exitCode: 4 })
  })
})

describe('open', () => {
  test('prints the page of a task where there is no screen, by number and by key', async () => {
    const { json: nodes } = await server.ask('POST', '/v1/nodes', {
      body: [{ metadata: { type: 'command', parent: 'root' }, data: { command: 'true' } }],
    })
    const { id, task } = nodes[0].metadata
    expect((await run(['open', task])).stdout).toBe(`${server.url}/tasks/${task}\n`)
    expect((await run(['open', `node/${id}`])).stdout).toBe(`${server.url}/tasks/${task}\n`)
    expect((await run(['open'])).stdout).toBe(`${server.url}/\n`)
    expect(await run(['open', '999999'])).toMatchObject({ exitCode: 3 })
  })

  test('with --sign-in makes a link that lets one browser in', async () => {
    const { url } = await json(['open', '--sign-in'])
    const [, secret] = /^http.*\/sign-in#(.+)$/.exec(url) ?? []
    const reply = await server.ask('POST', '/v1/sign-in', { token: null, body: { secret } })
    expect(reply.status).toBe(204)
    const { id } = (await server.ask('GET', '/v1/tasks')).json.items[0]
    const { url: leading } = await json(['open', id, '--sign-in'])
    expect(leading).toMatch(`${server.url}/sign-in?to=%2Ftasks%2F${id}#`)
  })
})
