// A real server on a database of its own, asked over real HTTP. Every answer is compared with the OpenAPI document
// that the server itself gives.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { expect } from 'vitest'
import { type Client, createClient } from '../src/api/index.ts'
import type { Config } from '../src/config/index.ts'
import { serve } from '../src/main.ts'
import { database, type TestDatabase } from './database.ts'
import { scratch } from './scratch.ts'
import { shared } from './shared.ts'

export const ADMIN = 'the-admin-token-of-the-tests'

export type Reply = {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  readonly json: any
}

export type Question = {
  readonly body?: unknown
  /** Null: none at all. Default: the administrator's. */
  readonly token?: string | null
  readonly headers?: Readonly<Record<string, string>>
  readonly signal?: AbortSignal
}

export type TestServer = AsyncDisposable & {
  readonly url: string
  readonly database: TestDatabase
  readonly client: Client
  /** Asks and compares the answer with the OpenAPI document. */
  ask(method: string, path: string, question?: Question): Promise<Reply>
  stop(): Promise<void>
}

type Compare = (method: string, path: string, reply: Reply) => void

const plainFetch = globalThis.fetch
/** How to compare the answers of the servers that run, by their origins. */
const comparisons = new Map<string, Compare>()
/** All servers of this process have the same routes, and so the same document. */
let compareWhole: Promise<Compare> | undefined

/** Whoever asks a server of these tests in this process, the command line too: its answer is compared with the document. */
globalThis.fetch = async (input, init) => {
  const response = await plainFetch(input, init)
  const { origin, pathname } = new URL(input instanceof Request ? input.url : input)
  const compare = comparisons.get(origin)
  const method = init?.method ?? (input instanceof Request ? input.method : 'GET')
  const isJson = (response.headers.get('content-type') ?? '').includes('json')
  if (compare === undefined || method === 'HEAD' || !isJson || !pathname.startsWith('/v1/')) return response
  compare(method, pathname, replyOf(response, await response.clone().text()))
  return response
}

/** Starts a server; stopped in the end, its database dropped. */
export async function aServer(settings: Partial<Config> & { on?: TestDatabase } = {}): Promise<TestServer> {
  const { on, ...given } = settings
  const own = on ?? (await database())
  // One that several tests share brings a folder: a test's own goes with the test.
  const data = given.data ?? (await scratch()).path
  const running = await serve({
    host: '127.0.0.1',
    port: 0,
    data,
    database_url: own.databaseUrl,
    admin_token: ADMIN,
    migrate: 'auto',
    drain_seconds: 1,
    concurrency: 8,
    archive_concurrency: 4,
    node_concurrency: 32,
    lease_seconds: 30,
    queues: 'default',
    grace_seconds: 10,
    rate_limit: 0,
    audit_days: 0,
    poll_seconds: 30,
    log_level: 'silent',
    log_format: 'json',
    ...given,
  })
  compareWhole ??= comparison(running.url)
  const compare = await compareWhole
  comparisons.set(running.url, compare)
  let isStopped = false
  const stop = async () => {
    if (isStopped) return
    isStopped = true
    comparisons.delete(running.url)
    await running.stop()
  }
  return {
    url: running.url,
    database: own,
    client: createClient({ url: running.url, token: ADMIN }),
    ask: askerWith(running.url, compare),
    stop,
    async [Symbol.asyncDispose]() {
      await stop()
      if (on === undefined) await own[Symbol.asyncDispose]()
    },
  }
}

/** A server for all tests of a file or of a `describe`. */
export function useServer(settings: Partial<Config> = {}): TestServer {
  return shared(async () => {
    const data = await mkdtemp(join(tmpdir(), 'millrace-server-'))
    const server = await aServer({ ...settings, data })
    return {
      ...server,
      async [Symbol.asyncDispose]() {
        await server[Symbol.asyncDispose]()
        await rm(data, { recursive: true, force: true })
      },
    }
  })
}

/** Asks the server at `url` and compares each answer with the OpenAPI document that it gives. */
export async function asker(url: string): Promise<TestServer['ask']> {
  return askerWith(url, await comparison(url))
}

function askerWith(url: string, compare: Compare): TestServer['ask'] {
  return async (method, path, question = {}) => {
    const reply = await send(url, method, path, question)
    compare(method, path, reply)
    return reply
  }
}

async function send(url: string, method: string, path: string, question: Question): Promise<Reply> {
  const token = question.token === undefined ? ADMIN : question.token
  const body = typeof question.body === 'string' ? question.body : JSON.stringify(question.body)
  const response = await plainFetch(url + path, {
    method,
    headers: {
      ...(token === null ? {} : { authorization: `Bearer ${token}` }),
      ...(question.body === undefined ? {} : { 'content-type': 'application/json' }),
      ...question.headers,
    },
    ...(question.body === undefined ? {} : { body: body as string }),
    ...(question.signal === undefined ? {} : { signal: question.signal }),
  })
  return replyOf(response, await response.text())
}

function replyOf(response: Response, text: string): Reply {
  const isJson = (response.headers.get('content-type') ?? '').includes('json')
  return {
    status: response.status,
    headers: response.headers,
    text,
    json: isJson && text !== '' ? JSON.parse(text) : undefined,
  }
}

type Document = { paths: Record<string, Record<string, { responses: Record<string, { content?: object }> }>> }

export async function comparison(url: string): Promise<Compare> {
  const document = (await (await plainFetch(`${url}/v1/openapi.json`)).json()) as Document
  const ajv = new Ajv2020({ strict: false, allErrors: true })
  addFormats.default(ajv)
  ajv.addSchema(document, 'openapi')
  const patterns = Object.keys(document.paths).map((path) => ({
    path,
    pattern: new RegExp(`^${path.replace(/[.]/g, '\\.').replace(/\{\w+\}/g, '[^/]+')}$`),
    // `/v1/tasks/counts` is meant before `/v1/tasks/{id}`.
    isExact: !path.includes('{'),
  }))
  patterns.sort((a, b) => Number(b.isExact) - Number(a.isExact))
  const toPointer = (part: string) => encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1'))
  return (method, path, reply) => {
    const plain = path.split('?')[0] ?? ''
    const found = patterns.find(
      ({ pattern, path: at }) => pattern.test(plain) && document.paths[at]?.[method.toLowerCase()],
    )
    if (found === undefined) {
      expect(reply.json, `${method} ${path} is not in the document`).toMatchObject({ code: expect.any(String) })
      return
    }
    const verb = method.toLowerCase()
    const responses = document.paths[found.path]?.[verb]?.responses ?? {}
    const key = String(reply.status) in responses ? String(reply.status) : 'default'
    const where = `${method} ${path} -> ${reply.status}`
    if (key === 'default') expect(reply.status, `${where}: ${reply.text}`).toBeGreaterThanOrEqual(400)
    const content = responses[key]?.content
    if (content === undefined) return expect(reply.text, where).toBe('')
    const type = (reply.headers.get('content-type') ?? '').split(';')[0] ?? ''
    expect(Object.keys(content), where).toContain(type)
    if (!type.includes('json')) return
    const pointer = `openapi#/paths/${toPointer(found.path)}/${verb}/responses/${key}/content/${toPointer(type)}/schema`
    const isValid = ajv.getSchema(pointer) ?? ajv.compile({ $ref: pointer })
    expect(isValid(reply.json), `${where}: ${ajv.errorsText(isValid.errors)}\n${reply.text.slice(0, 2000)}`).toBe(true)
  }
}
