// A server with a work graph of the test's own behind it: tasks are added, and performed when the test says so.

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { drain } from '../src/engine/drain.ts'
import {
  type AddOptions,
  type AnyWorker,
  connect,
  defineWorker,
  type Millrace,
  PermanentError,
} from '../src/engine/index.ts'
import { commandLineOf } from './command-line.ts'
import { anything, aWorker, deferred } from './engine.ts'
import { aServer, type TestServer } from './server.ts'
import { shared } from './shared.ts'

export type TaskGraph = {
  readonly millrace: Millrace
  /** Adds a task; answers its id. It succeeds when it is performed, unless its payload is `broken`. */
  add(options?: AddOptions & { payload?: unknown }): Promise<string>
  /** Adds a task and lets it run; it runs until it is ended or canceled. */
  runOne(): Promise<{ readonly task: string; readonly end: () => Promise<void> }>
  /** Performs whatever is ready, until nothing is. */
  perform(): Promise<void>
  close(): Promise<void>
}

export type TaskServer = TestServer & TaskGraph & { readonly commandLine: ReturnType<typeof commandLineOf> }

const worker: AnyWorker = defineWorker({
  kind: 'test.work',
  payload: anything,
  work({ payload }) {
    if (payload === 'broken') throw new PermanentError('it is broken')
    return payload as never
  },
})

/** A work graph in a database, without a server. */
export async function aGraph(databaseUrl: string): Promise<TaskGraph> {
  const millrace = await connect({ databaseUrl })
  return {
    millrace,
    async add({ payload = 'fine', ...options } = {}) {
      return (await millrace.add(worker, payload, options)).id
    },
    runOne: () => runOne(millrace),
    async perform() {
      await drain(millrace, [worker])
    },
    close: () => millrace.close(),
  }
}

export async function aTaskServer(): Promise<TaskServer> {
  const data = await mkdtemp(join(tmpdir(), 'millrace-task-server-'))
  const server = await aServer({ data })
  const graph = await aGraph(server.database.databaseUrl)
  return {
    ...server,
    ...graph,
    commandLine: commandLineOf(server),
    async [Symbol.asyncDispose]() {
      await graph.close()
      await server[Symbol.asyncDispose]()
      await rm(data, { recursive: true, force: true })
    },
  }
}

/** One for all tests of a file or of a `describe`. */
export const useTaskServer = (): TaskServer => shared(aTaskServer)

async function runOne(millrace: Millrace): Promise<{ task: string; end: () => Promise<void> }> {
  const over = deferred()
  const begun = deferred()
  const lasting = aWorker({
    async work({ signal }) {
      begun.resolve()
      await Promise.race([over.promise, new Promise((resolve) => signal.addEventListener('abort', resolve))])
      return undefined
    },
  })
  const { id: task } = await millrace.add(lasting, null)
  const dispatcher = millrace.dispatch([lasting])
  await begun.promise
  const end = async () => {
    over.resolve()
    await dispatcher.stop()
  }
  return { task, end }
}
