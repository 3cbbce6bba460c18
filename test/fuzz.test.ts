// Every operation of the document, asked for with what its schemas allow and with what nobody should send: the server may
// refuse, but it may not break, and what it answers is what its document says.
// MILLRACE_FUZZ_RUNS sets how many requests each operation gets, MILLRACE_FUZZ_SEED repeats a run.
import { randomInt, randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { connect, defineWorker } from '../src/engine/index.ts'
import { examples } from './fuzz/examples.ts'
import {
  type Document,
  edgeRequestsFor,
  type Fuzzed,
  type Operation,
  operationsOf,
  requestFor,
} from './fuzz/operations.ts'
import { createSender, type RawReply } from './fuzz/raw.ts'
import { inForm } from './long-form.ts'
import { ADMIN, aServer, comparison } from './server.ts'

const runs = Number(process.env['MILLRACE_FUZZ_RUNS'] ?? inForm(8, 128))
const seed = Number(process.env['MILLRACE_FUZZ_SEED'] ?? randomInt(2 ** 31))
// On a busy machine what has run by then is the verdict, unless somebody asked for a number of runs.
const MOST_MS = process.env['MILLRACE_FUZZ_RUNS'] === undefined ? inForm(40_000, 300_000) : Number.POSITIVE_INFINITY
const BATCH = 8 // between batches what was answered is learned from

/** What answers hold under a name that a parameter may have, too. */
const LEARNED = [
  'id',
  'name',
  'key',
  'scope',
  'kind',
  'queue',
  'actor',
  'action',
  'next_cursor',
  'pid',
  'next',
  'rev',
  'csid',
]
const LEARNED_AS: Readonly<Record<string, string>> = { next_cursor: 'cursor', next: 'start' }
const MOST_LEARNED = 20

class Memory {
  readonly #seen = new Map<string, unknown[]>()

  get seen(): ReadonlyMap<string, readonly unknown[]> {
    return this.#seen
  }

  learn(resource: string, value: unknown): void {
    if (Array.isArray(value)) for (const item of value) this.learn(resource, item)
    else if (typeof value === 'object' && value !== null) {
      for (const [name, inner] of Object.entries(value)) {
        if (LEARNED.includes(name) && (typeof inner === 'string' || typeof inner === 'number')) {
          this.add(`${resource}.${LEARNED_AS[name] ?? name}`, inner)
          this.add(`.${LEARNED_AS[name] ?? name}`, inner)
        } else this.learn(resource, inner)
      }
    }
  }

  add(under: string, value: string | number): void {
    const list = this.#seen.get(under) ?? []
    if (!list.includes(value) && list.length < MOST_LEARNED) this.#seen.set(under, [...list, value])
  }
}

const isCreating = ({ parameters }: Operation) => parameters.some(({ name }) => name === 'Idempotency-Key')

/** Something to ask for. */
async function addTasks(databaseUrl: string, memory: Memory): Promise<void> {
  const millrace = await connect({ databaseUrl })
  const worker = defineWorker({ kind: 'test.work', payload: z.unknown(), work: async () => 'done' })
  const first = await millrace.add(worker, {}, { scope: 'archive:My-Project', key: '12:index' })
  const second = await millrace.add(worker, { a: ['ü', null] }, { requires: [first.id] })
  const third = await millrace.addMilestone({ scope: 'node', key: 'a/b' })
  await millrace.close()
  for (const id of [first.id, second.id, third.id, 'My-Project@12:index']) memory.add('tasks.id', id)
}

/** Asks for an operation, and expects of the answer what holds for all of them. */
async function createAsk(url: string, memory: Memory) {
  const compare = await comparison(url)
  const send = createSender(url)
  const ask = async (operation: Operation, { path, headers, body }: Fuzzed): Promise<RawReply> => {
    const type = body === undefined ? {} : { 'content-type': 'application/json' }
    const sent = { authorization: `Bearer ${ADMIN}`, ...type, ...headers }
    const where = `MILLRACE_FUZZ_SEED=${seed} ${operation.method} ${path} ${JSON.stringify(headers)} ${body?.slice(0, 2000)}`
    try {
      const reply = await send({ method: operation.method, path, headers: sent, body })
      expect(reply.status, reply.text.slice(0, 2000)).toBeLessThan(500)
      if (reply.isOpen) return reply
      if (reply.status >= 400) {
        expect(String(reply.headers.get('content-type'))).toContain('application/problem+json')
        expect(reply.json).toMatchObject({ status: reply.status, code: expect.stringMatching(/^[a-z_]+$/) })
      }
      compare(operation.method, path, reply)
      memory.learn(operation.name.split('.')[0] ?? '', reply.json)
      return reply
    } catch (error) {
      throw new Error(`${where}: ${(error as Error).message}`, { cause: error })
    }
  }
  const askTwice = async (operation: Operation, each: Fuzzed): Promise<RawReply> => {
    const keyed = { ...each, headers: { ...each.headers, 'idempotency-key': randomUUID() } }
    const first = await ask(operation, keyed)
    if (first.status >= 300 || first.isOpen) return first
    const again = await ask(operation, keyed)
    const where = `${operation.name} knows its Idempotency-Key again`
    expect([again.status, again.headers.get('idempotency-replayed')], where).toEqual([first.status, 'true'])
    return first
  }
  return {
    ask: (operation: Operation, each: Fuzzed) => (isCreating(operation) ? askTwice : ask)(operation, each),
    close: () => send.close(),
  }
}

const LANES = 6

/** Several at a time: some only wait, and a server is asked by many at once. */
async function sideBySide<T>(items: readonly T[], work: (item: T, place: number) => Promise<void>): Promise<void> {
  const left = [...items.entries()]
  const lane = async () => {
    for (let next = left.shift(); next !== undefined; next = left.shift()) await work(next[1], next[0])
  }
  await Promise.all(Array.from({ length: LANES }, lane))
}

test('no request breaks the server, and every answer is what the document says', async () => {
  await using server = await aServer()
  const document = (await (await fetch(`${server.url}/v1/openapi.json`)).json()) as Document
  const memory = new Memory()
  await addTasks(server.database.databaseUrl, memory)
  const { ask, close } = await createAsk(server.url, memory)
  const operations = operationsOf(document)
  expect(operations.length).toBeGreaterThan(10)
  const letThrough = new Set<string>()
  for (const operation of operations) {
    if (operation.method !== 'POST' || operation.path.includes('{')) continue
    for (const body of examples[operation.name] ?? []) {
      const reply = await ask(operation, { path: operation.path, headers: {}, body: JSON.stringify(body) })
      expect(reply.status, `the example for ${operation.name} is refused: ${reply.text}`).toBeLessThan(300)
    }
  }
  const askAll = async (operation: Operation, requests: readonly Fuzzed[]) => {
    for (const each of requests) {
      const { status, isOpen } = await ask(operation, each)
      if (isOpen || status < 300) letThrough.add(operation.name)
    }
  }
  await sideBySide(operations, (operation) =>
    askAll(operation, edgeRequestsFor(document, operation, memory.seen, seed)),
  )
  const until = performance.now() + MOST_MS
  for (let done = 0; done < runs && performance.now() < until; done += BATCH) {
    await sideBySide(operations, (operation, i) => {
      const sampling = { numRuns: Math.min(BATCH, runs - done), seed: seed + done * 1000 + i }
      return askAll(operation, fc.sample(requestFor(document, operation, memory.seen), sampling))
    })
  }
  close()
  // Requests that are all refused would try nothing but the refusing.
  const names = [...letThrough].join(', ')
  expect(letThrough.size, `only ${names} were ever let through`).toBeGreaterThan(operations.length / 2)
  expect((await fetch(`${server.url}/readyz`)).status).toBe(200)
}, 600_000)
