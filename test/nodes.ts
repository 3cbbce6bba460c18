// A server for the tests of one file, and short ways to speak of nodes.
import { afterEach, expect } from 'vitest'
import type { Config } from '../src/config/index.ts'
import { waitFor } from './processes.ts'
import { type Question, type Reply, type TestServer, useServer } from './server.ts'

export type Item = { metadata: Record<string, unknown>; data?: Record<string, unknown> }

export const command = (...[program, ...args]: string[]): Item => ({
  metadata: { type: 'command', parent: 'root' },
  data: { command: program, ...(args.length > 0 ? { args } : {}) },
})
export const shell = (script: string): Item => ({
  metadata: { type: 'shell command', parent: 'root' },
  data: { command: script },
})
export const sleeping = (seconds: number): Item => ({ metadata: { type: 'sleep', parent: 'root' }, data: { seconds } })

/** The item below a parent, with other metadata and data besides. */
export const below = (parent: string, item: Item, more: Partial<Item> = {}): Item => ({
  metadata: { ...item.metadata, parent, ...more.metadata },
  data: { ...item.data, ...more.data },
})

export type TestNodes = {
  readonly server: TestServer
  ask(method: string, path: string, question?: Question): Promise<Reply>
  /** Adds nodes and answers their ids. */
  add(...items: Item[]): Promise<string[]>
  /** Waits for their end and answers their states. */
  ended(...ids: string[]): Promise<string[]>
  /** Adds nodes, waits for their end and answers them as they are shown. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  run(...items: Item[]): Promise<any[]>
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  get(id: string): Promise<any>
  states(...ids: string[]): Promise<string[]>
  /** Waits until the node is in the state. */
  reaches(id: string, state: string): Promise<void>
  value(id: string, key: string): Promise<unknown>
}

export function speaking(of: () => Pick<TestServer, 'ask'>): Omit<TestNodes, 'server'> {
  const ask: TestNodes['ask'] = (...question) => of().ask(...question)
  const get: TestNodes['get'] = async (id) => {
    const { status, json, text } = await ask('GET', `/v1/nodes/${id}`)
    expect(status, text).toBe(200)
    return json
  }
  const add: TestNodes['add'] = async (...items) => {
    const { status, json, text } = await ask('POST', '/v1/nodes', { body: items })
    expect(status, text).toBe(201)
    return (json as { metadata: { id: string } }[]).map((node) => node.metadata.id)
  }
  const ended: TestNodes['ended'] = async (...ids) => {
    const { status, json, text } = await ask('GET', `/v1/scheduler/wait?id=${ids.join(',')}`)
    expect(status, text).toBe(200)
    return (json.nodes as { state: string }[]).map(({ state }) => state)
  }
  return {
    ask,
    add,
    ended,
    get,
    async run(...items) {
      const ids = await add(...items)
      await ended(...ids)
      return Promise.all(ids.map(get))
    },
    states: (...ids) => Promise.all(ids.map(async (id) => (await get(id)).metadata.state)),
    async reaches(id, state) {
      await waitFor(async () => ((await get(id)).metadata.state === state ? true : undefined))
    },
    async value(id, key) {
      const { status, json, text } = await ask('GET', `/v1/nodes/${id}/data/${key}`)
      expect(status, text).toBe(200)
      return json.data
    },
  }
}

/** A server for all tests of a file. After each the engine looks for broken promises. */
export function useNodes(settings: Partial<Config> = {}): TestNodes {
  const server = useServer(settings)
  afterEach(async () => {
    const { rows } = await server.database.pool.query('select task, problem from millrace.verify()')
    expect(rows).toEqual([])
  })
  return { server, ...speaking(() => server) }
}
