// A real server with real repositories, and a worker that writes down what it is given instead of running it.
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, onTestFinished } from 'vitest'
import { archiveIndexKind, archiveIndexSchema, archiveTaskKind, archiveTaskSchema } from '../src/archives/index.ts'
import type { Config } from '../src/config/index.ts'
import { type AnyWorker, connect, defineWorker, PermanentError } from '../src/engine/index.ts'
import type { TestDatabase } from './database.ts'
import { deferred } from './engine.ts'
import { waitFor } from './processes.ts'
import type { Ground, Plain } from './repositories/ground.ts'
import { write } from './repositories/kit.ts'
import { aServer, type TestServer, useServer } from './server.ts'

/** The example of the document. */
export const DOCUMENT = `
- name: indexing
  command: make index
  depends:
    - PREV
- name: build-PDF
  command: make pdf
  depends:
    - indexing
  cancels:
    - PREV
`

export type Performed = AsyncDisposable & {
  /** `start 2:indexing`, `end 2:indexing`, and `stop 2:indexing` for one that was told to. */
  readonly log: string[]
  /** Tasks with these keys stay at work until they are let go. */
  block(...keys: string[]): void
  free(...keys: string[]): void
  /** Tasks with these keys fail. */
  readonly failing: Set<string>
  /** Waits for a line of the log. */
  seen(line: string): Promise<void>
}

/** Performs tasks of archives in a process beside the server, as `millrace worker` does. */
export async function performing({ databaseUrl }: { databaseUrl: string }, concurrency = 20): Promise<Performed> {
  const millrace = await connect({ databaseUrl })
  const log: string[] = []
  const gates = new Map<string, ReturnType<typeof deferred<void>>>()
  const failing = new Set<string>()
  const work: AnyWorker['work'] = async ({ task, signal }) => {
    const key = task.key ?? ''
    log.push(`start ${key}`)
    const gate = gates.get(key)
    if (gate !== undefined) {
      const stopped = new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
      await Promise.race([gate.promise, stopped])
    }
    if (signal.aborted) {
      log.push(`stop ${key}`)
      throw signal.reason
    }
    log.push(`end ${key}`)
    if (failing.has(key)) throw new PermanentError('told to fail')
    return undefined
  }
  const workers = [
    defineWorker({ kind: archiveTaskKind, payload: archiveTaskSchema, work }),
    defineWorker({ kind: archiveIndexKind, payload: archiveIndexSchema, work }),
  ]
  const dispatcher = millrace.dispatch(workers as AnyWorker[], { concurrency, stopSeconds: 0 })
  await dispatcher.started
  let isClosed = false
  const close = async () => {
    if (isClosed) return
    isClosed = true
    for (const gate of gates.values()) gate.resolve()
    await dispatcher.stop()
    await millrace.close()
  }
  onTestFinished(close)
  return {
    log,
    failing,
    block(...keys) {
      for (const key of keys) gates.set(key, deferred<void>())
    },
    free(...keys) {
      for (const key of keys) gates.get(key)?.resolve()
    },
    seen: async (line) => {
      await waitFor(() => (log.includes(line) ? true : undefined))
    },
    [Symbol.asyncDispose]: close,
  }
}

const QUIET = { poll_seconds: 3600, queues: 'nothing-of-this-server' }

/** A server that looks at repositories only when told, and leaves tasks to the test, unless that says otherwise. */
export async function archiveServer(settings: Partial<Config> & { on?: TestDatabase } = {}): Promise<TestServer> {
  const server = await aServer({ ...QUIET, ...settings })
  onTestFinished(() => server[Symbol.asyncDispose]())
  return server
}

/** One for all tests of a file. Each begins without an archive, and without a task that could still run. */
export function useArchiveServer(): TestServer {
  const server = useServer(QUIET)
  beforeEach(async () => {
    const { json } = await server.ask('GET', '/v1/archives?limit=500')
    for (const { name } of json.items) await server.ask('DELETE', `/v1/archives/${encodeURIComponent(name)}`)
    await server.database.pool.query('select millrace.cancel(array(select id from millrace.live), null, null)')
  })
  return server
}

/** Files by path, committed as one revision. Null deletes. */
export async function commitFiles(
  plain: Plain,
  files: Readonly<Record<string, string | null>>,
  message = 'a change',
  author?: string,
): Promise<void> {
  await plain.commit(
    async (folder) => {
      for (const [path, text] of Object.entries(files))
        if (text === null) await rm(join(folder, path), { recursive: true })
        else await write(join(folder, path), text)
    },
    message,
    author,
  )
}

/** The source to register a repository by. A name and a password for it become secrets of the archive. */
export async function sourceOf(server: TestServer, { options }: Plain, archive: string): Promise<object> {
  const { credentials, ...source } = options
  if (credentials === undefined) return source
  const secrets = { REPOSITORY_USER: credentials.username, REPOSITORY_PASSWORD: credentials.password }
  for (const [name, value] of Object.entries(secrets)) {
    const path = `/v1/archives/${encodeURIComponent(archive)}/secrets/${name}`
    const reply = await server.ask('PUT', path, { body: { value } })
    if (reply.status !== 200) throw new Error(reply.text)
  }
  return { ...source, credentials: { username: 'REPOSITORY_USER', password: 'REPOSITORY_PASSWORD' } }
}

let names = 0

/** A new repository, registered under a name of its own. */
export async function registered(
  server: TestServer,
  ground: Ground,
  { from, first = [] }: { from?: 'head' | number; first?: readonly Readonly<Record<string, string | null>>[] } = {},
): Promise<{ name: string; plain: Plain }> {
  const plain = await ground.create()
  for (const files of first) await commitFiles(plain, files)
  names += 1
  const name = `Archive-${names}`
  const source = await sourceOf(server, plain, name)
  const reply = await server.ask('PUT', `/v1/archives/${name}`, {
    body: { source, ...(from === undefined ? {} : { from }) },
  })
  if (reply.status !== 201) throw new Error(reply.text)
  return { name, plain }
}

/** Announces a revision; the status of the answer. */
export const announce = async (server: TestServer, name: string, rev: number | string) =>
  (await server.ask('POST', `/v1/archives/${encodeURIComponent(name)}/commits`, { body: { rev, txn: `${rev}-x` } }))
    .status

/** Waits until the archive is planned up to a revision. */
export async function planned(server: TestServer, name: string, number: number): Promise<void> {
  await waitFor(async () => {
    const { json } = await server.ask('GET', `/v1/archives/${encodeURIComponent(name)}`)
    return json.planned.number >= number ? true : undefined
  })
}

type Shown = { tasks: { key: string; state: string }[]; edges: { from: string; to: string; kind: string }[] }

export async function shown(server: TestServer, name: string, rev: number): Promise<Shown & Record<string, unknown>> {
  const reply = await server.ask('GET', `/v1/archives/${encodeURIComponent(name)}/revisions/${rev}`)
  if (reply.status !== 200) throw new Error(reply.text)
  return reply.json
}

/** The edges of revisions, as the document writes them. */
export async function edgesOf(server: TestServer, name: string, ...revs: number[]): Promise<string[]> {
  const short = (key: string) => key.slice(name.length + 1)
  const all = await Promise.all(revs.map((rev) => shown(server, name, rev)))
  return all.flatMap(({ edges }) =>
    edges.map(({ from, to, kind }) => `${short(from)} ${kind === 'cancels' ? '<!=' : '<--'} ${short(to)}`),
  )
}

export const stateOf = async (server: TestServer, key: string): Promise<string> =>
  (await server.ask('GET', `/v1/tasks/${encodeURIComponent(key)}`)).json.state

export const untilState = (server: TestServer, key: string, state: string) =>
  waitFor(async () => ((await stateOf(server, key)) === state ? true : undefined))
